"""A peer in Python, with OpenTelemetry's own instrumentation of gRPC.

usage: peer.py <directory of the generated modules>

It prints the port on which it listens, and serves until its standard input ends.
"""

import os
import sys
from concurrent import futures

import grpc
from opentelemetry import baggage, context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.grpc import GrpcInstrumentorClient, GrpcInstrumentorServer
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

sys.path.insert(0, sys.argv[1])
import relay_pb2
import relay_pb2_grpc

NAME = os.environ["OTEL_SERVICE_NAME"]
TIMEOUT = 20


class Relay(relay_pb2_grpc.RelayServicer):
    def Pass(self, route, call):
        hops = [self.hop(call)]
        if route.next:
            with baggage_with(route.baggage), grpc.insecure_channel(route.next[0]) as channel:
                rest = relay_pb2.Route(next=route.next[1:])
                hops += relay_pb2_grpc.RelayStub(channel).Pass(rest, timeout=TIMEOUT).hops
        return relay_pb2.Hops(hops=hops)

    def Fail(self, failure, call):
        self.fail(failure, call)

    def FailMidway(self, failure, call):
        if failure.opened:
            call.send_initial_metadata(())
        for _ in range(failure.messages):
            yield relay_pb2.Hops()
        self.fail(failure, call)

    def Try(self, trial, call):
        count = 0
        with grpc.insecure_channel(trial.address) as channel:
            stub = relay_pb2_grpc.RelayStub(channel)
            try:
                if trial.midway:
                    for _ in stub.FailMidway(trial.failure, timeout=TIMEOUT):
                        count += 1
                else:
                    stub.Fail(trial.failure, timeout=TIMEOUT)
            except grpc.RpcError as error:
                details = dict(error.trailing_metadata()).get("grpc-status-details-bin", b"")
                code, message = error.code().value[0], error.details()
                return relay_pb2.Ending(code=code, message=message, details=details, messages=count)
        return relay_pb2.Ending(messages=count)

    def hop(self, call):
        headers = dict(call.invocation_metadata())
        return relay_pb2.Hop(
            peer=NAME,
            traceparent=headers.get("traceparent", ""),
            tracestate=headers.get("tracestate", ""),
            baggage={key: str(value) for key, value in baggage.get_all().items()},
        )

    def fail(self, failure, call):
        if failure.details:
            call.set_trailing_metadata([("grpc-status-details-bin", failure.details)])
        code = next(code for code in grpc.StatusCode if code.value[0] == failure.code)
        call.abort(code, failure.message)


class baggage_with:
    """The current context with more in its baggage."""

    def __init__(self, more):
        self.more = more

    def __enter__(self):
        extended = context.get_current()
        for key, value in self.more.items():
            extended = baggage.set_baggage(key, value, extended)
        self.token = context.attach(extended)

    def __exit__(self, *_):
        context.detach(self.token)


def main():
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    GrpcInstrumentorClient().instrument()
    GrpcInstrumentorServer().instrument()
    server = grpc.server(futures.ThreadPoolExecutor(8))
    relay_pb2_grpc.add_RelayServicer_to_server(Relay(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(grace=5).wait()
    provider.shutdown()


if __name__ == "__main__":
    main()
