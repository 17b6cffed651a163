// A peer in Node, with OpenTelemetry's own instrumentation of gRPC.
//
// usage: peer.js <path of relay.proto>
//
// It prints the port on which it listens, and serves until its standard input ends.

'use strict';

const { context, propagation } = require('@opentelemetry/api');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { GrpcInstrumentation } = require('@opentelemetry/instrumentation-grpc');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { detectResources, envDetector } = require('@opentelemetry/resources');
const { BatchSpanProcessor, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');

const provider = new NodeTracerProvider({
  resource: detectResources({ detectors: [envDetector] }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
registerInstrumentations({ instrumentations: [new GrpcInstrumentation()] });

// It is instrumented as it is loaded.
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const NAME = process.env.OTEL_SERVICE_NAME;
const { Relay } = grpc.loadPackageDefinition(loader.loadSync(process.argv[2], { defaults: true })).relay.v1;

function pass(call, answer) {
  const hops = [hop(call)];
  const { next, baggage } = call.request;
  if (next.length === 0) return answer(null, { hops });
  const client = clientOf(next[0]);
  context.with(baggageWith(baggage), () => {
    client.Pass({ next: next.slice(1) }, deadline(), (error, rest) => {
      client.close();
      if (error) answer(error);
      else answer(null, { hops: hops.concat(rest.hops) });
    });
  });
}

function failMidway(call) {
  const { messages, opened } = call.request;
  if (opened) call.sendMetadata(new grpc.Metadata());
  for (let sent = 0; sent < messages; sent++) call.write({});
  call.emit('error', statusOf(call.request));
}

function tryOut(call, answer) {
  const { address, midway, failure } = call.request;
  const client = clientOf(address);
  let messages = 0;
  const ended = (error) => {
    client.close();
    const { code, details, metadata } = error ?? { code: 0, details: '', metadata: new grpc.Metadata() };
    const [more] = metadata.get('grpc-status-details-bin');
    answer(null, { code, message: details, details: more, messages });
  };
  if (!midway) return client.Fail(failure, deadline(), ended);
  const stream = client.FailMidway(failure, deadline());
  stream.on('data', () => messages++);
  stream.on('error', ended);
  stream.on('status', ({ code }) => {
    if (code === grpc.status.OK) ended();
  });
}

function hop(call) {
  const header = (name) => String(call.metadata.get(name)[0] ?? '');
  const entries = propagation.getActiveBaggage()?.getAllEntries() ?? [];
  const baggage = Object.fromEntries(entries.map(([key, { value }]) => [key, value]));
  return { peer: NAME, traceparent: header('traceparent'), tracestate: header('tracestate'), baggage };
}

function statusOf({ code, message, details }) {
  const metadata = new grpc.Metadata();
  if (details.length > 0) metadata.set('grpc-status-details-bin', details);
  return { code, details: message, metadata };
}

function baggageWith(more) {
  let baggage = propagation.getActiveBaggage() ?? propagation.createBaggage();
  for (const [key, value] of Object.entries(more)) baggage = baggage.setEntry(key, { value });
  return propagation.setBaggage(context.active(), baggage);
}

function clientOf(address) {
  return new Relay(address, grpc.credentials.createInsecure());
}

function deadline() {
  return { deadline: Date.now() + 20_000 };
}

const server = new grpc.Server();
server.addService(Relay.service, {
  Pass: pass,
  Fail: (call, answer) => answer(statusOf(call.request)),
  FailMidway: failMidway,
  Try: tryOut,
});
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
process.stdin.resume();
process.stdin.on('end', () => {
  server.tryShutdown(async () => {
    await provider.shutdown();
    process.exit(0);
  });
});
