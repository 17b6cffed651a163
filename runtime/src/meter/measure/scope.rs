//! A function whose body stays where it is: a guard measures it.

use super::{Measure, Verdict};
use crate::declare::callsite::Callsite;
use crate::declare::metric::Labels;
use crate::record::finished::Outcome;
use crate::trace::span::{self, Entered, IntoParent, Scope, Start};

/// A span, if there is one, and a measure that run.
pub struct EnteredMeasured(Option<Entered>, Option<Measure>);

/// Enters the span and begins the measure of a function.
pub fn enter_measured<F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    fields: F,
    labels: impl FnOnce() -> Labels,
) -> Option<EnteredMeasured> {
    let measure = Measure::of(callsite, labels);
    Some(EnteredMeasured(span::enter(callsite, fields), measure))
}

/// As `enter_measured`, with the span below a given parent.
pub fn enter_measured_under<P: IntoParent, F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    parent: impl FnOnce() -> P,
    fields: F,
    labels: impl FnOnce() -> Labels,
) -> Option<EnteredMeasured> {
    let measure = Measure::of(callsite, labels);
    Some(EnteredMeasured(span::enter_under(callsite, parent, fields), measure))
}

/// Begins the measure of a function that has no span.
pub fn enter_metric(callsite: &'static Callsite, labels: impl FnOnce() -> Labels) -> Option<EnteredMeasured> {
    Some(EnteredMeasured(None, Measure::of(callsite, labels)))
}

/// A function that is measured until this is dropped, and its span.
#[must_use = "the measurement ends when the guard is dropped"]
pub struct MeasuredScope {
    // Ends first, as it was begun last.
    measure: Option<Measure>,
    _span: Scope,
    began_unwinding: bool,
}

impl MeasuredScope {
    /// A guard for what was entered.
    pub fn new(entered: Option<EnteredMeasured>) -> Self {
        let (span, mut measure) = entered.map_or((None, None), |entered| (entered.0, entered.1));
        if let Some(measure) = &mut measure {
            measure.start(span::start_reading(span.as_ref().and_then(|span| span.block())));
        }
        let began_unwinding = measure.is_some() && std::thread::panicking();
        MeasuredScope { measure, _span: Scope::new(span), began_unwinding }
    }
}

impl Drop for MeasuredScope {
    fn drop(&mut self) {
        let Some(measure) = self.measure.take() else { return };
        let unwinding = std::thread::panicking() && !self.began_unwinding;
        let outcome = if unwinding { Outcome::Panicked } else { Outcome::Ok };
        // The scope ends after this and reads the clock for itself: guards are the rare form.
        let end = measure.end_reading(None);
        measure.end(end, outcome, &Verdict::default());
    }
}
