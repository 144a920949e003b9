// The order of test files: those that take longest begin first, so that none of them runs alone at the end of a run.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They send most, or wait for phones, silence and starts. Vitest orders files it has not yet run by their size. */
const longest = [
  'test/conformance/fuzz.test.ts',
  'src/media/create-media.test.ts',
  'test/conformance/authorization-matrix.test.ts',
  'src/streams/create-streams.test.ts',
  'src/media/far-end.test.ts',
  'src/calls/session/interleavings.test.ts',
  'test/journeys/nodes.test.ts',
  'test/journeys/real-phones.test.ts',
  'test/journeys/start.test.ts',
  'test/journeys/edge.test.ts',
  'test/journeys/process.test.ts',
  'test/guides/guides.test.ts',
  'test/journeys/phones-behind-proxy.test.ts',
  'examples/demo.test.ts',
  'test/journeys/recorded-calls.test.ts',
  'test/journeys/hold.test.ts',
  'test/journeys/postgres.test.ts',
  'test/clients/clients.test.ts',
  'test/journeys/faults.test.ts',
  'examples/ivr.test.ts',
  'examples/click-to-call.test.ts',
  'test/journeys/idempotency.test.ts',
  'examples/call-centre.test.ts',
  'test/journeys/killed.test.ts',
  'test/journeys/carrier-registration.test.ts',
  'test/journeys/outbound-calls.test.ts',
  'examples/echo.test.ts',
]

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const at = longest.findIndex((name) => moduleId.endsWith(name))
  return at === -1 ? longest.length : at
}
