//! Medians with their confidence bounds, and the formatting of figures.

/// A median with its 95 % confidence bounds.
#[derive(Clone, Copy, Debug)]
pub struct Median {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Median {
    /// From order statistics, without assuming a distribution.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let Some(last) = values.len().checked_sub(1) else {
            return Median { value: f64::NAN, low: f64::NAN, high: f64::NAN };
        };
        let (middle, spread) = (last as f64 / 2.0, 0.98 * (values.len() as f64).sqrt());
        let at = |rank: f64| values[rank.clamp(0.0, last as f64) as usize];
        let value = (at(middle.floor()) + at(middle.ceil())) / 2.0;
        Median { value, low: at((middle - spread).floor()), high: at((middle + spread).ceil()) }
    }

    /// The median of two contenders' ratios, round by round: a disturbance slows both.
    pub fn of_ratios(over: &[f64], under: &[f64]) -> Self {
        Median::of(over.iter().zip(under).map(|(over, under)| over / under))
    }
}

impl std::fmt::Display for Median {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Median { value, low, high } = *self;
        if !value.is_finite() {
            return f.write_str("-");
        }
        let digits = if value.abs() < 10.0 { 2 } else { 1 };
        write!(f, "{value:.digits$} ({low:.digits$} .. {high:.digits$})")
    }
}

/// Returns the limit below which a control shows an undisturbed round: near the best of all its rounds.
pub fn undisturbed(controls: impl Iterator<Item = f64>) -> f64 {
    1.15 * controls.fold(f64::INFINITY, f64::min)
}

/// Formats a figure; `-` if it was not measured, or has no rival.
pub fn figure(value: f64) -> String {
    match value.abs() {
        magnitude if !magnitude.is_finite() => "-".to_owned(),
        magnitude if magnitude >= 100.0 => format!("{value:.0}"),
        magnitude if magnitude >= 10.0 => format!("{value:.1}"),
        // Of these the third digit tells whether a target is met.
        magnitude if 0.0 < magnitude && magnitude < 0.1 => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_lies_between_its_bounds() {
        let Median { value, low, high } = Median::of((0..101).map(f64::from));
        assert_eq!((value, low, high), (50.0, 40.0, 60.0));
    }

    #[test]
    fn small_figures_have_three_digits() {
        assert_eq!([0.0, 0.075, 0.11, 21.25, 321.4].map(figure), ["0.00", "0.075", "0.11", "21.2", "321"]);
    }

    #[test]
    fn few_values_bound_it_by_their_extremes() {
        let Median { value, low, high } = Median::of([3.0, 1.0]);
        assert_eq!((value, low, high), (2.0, 1.0, 3.0));
        assert_eq!(Median::of([f64::NAN]).to_string(), "-");
    }

    #[test]
    fn a_control_is_good_if_it_is_near_its_best() {
        let good = undisturbed([2.9, 2.2, 2.4].into_iter());
        assert!(2.4 < good && good < 2.9, "{good}");
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        assert_eq!(Median::of_ratios(&[2.0, 20.0, 8.0], &[1.0, 10.0, 2.0]).value, 2.0);
    }
}
