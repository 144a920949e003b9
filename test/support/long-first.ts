// The order of test files: those that take longest begin first, so that none of them is left alone at the end of a run.
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** They wait for phones, leases and starts; vitest goes by the size of a file where it has not seen it run. */
const longest = [
  'test/journeys/nodes.test.ts',
  'test/journeys/start.test.ts',
  'test/journeys/process.test.ts',
  'test/journeys/real-phones.test.ts',
  'test/guides/guides.test.ts',
  'examples/demo.test.ts',
  'test/journeys/phones-behind-proxy.test.ts',
  'test/journeys/hold.test.ts',
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
