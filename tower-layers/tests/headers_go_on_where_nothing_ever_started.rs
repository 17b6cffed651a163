//! In a process of its own, because it never starts telemetry: it still passes on what its callers sent.

mod support;

use support::alone;
use support::grpc::World;
use tonic::Request;
use tracecast::propagation;
use tracecast_tower::HttpHeadersMut;

#[test]
fn from_a_handler_and_from_a_stream() {
    alone(async || {
        let incoming = vec![
            ("traceparent".to_owned(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
            ("baggage".to_owned(), "tenant=x".to_owned()),
        ];
        let sent: String = incoming.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let request = |text: &str| {
            let mut request = Request::new(text.to_owned());
            let caller = propagation::extract(&incoming);
            propagation::inject(&caller, &mut HttpHeadersMut::from(request.metadata_mut()));
            request
        };
        let mut world = World::new().await;
        assert_eq!(world.unary_with(request("context")).await.unwrap(), sent);
        let mut stream = world.server_stream(request("0 context")).await.unwrap();
        assert_eq!(stream.message().await.unwrap().unwrap(), sent);
    });
}
