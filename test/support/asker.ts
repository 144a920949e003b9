// A client that waits for a response, and leaves when the test says so.
import { goneError, type Asker } from '../../src/lib/asker.ts'

export interface TestAsker extends Asker {
  leave(): void
}

export function createTestAsker(): TestAsker {
  const controller = new AbortController()
  return {
    get isGone() {
      return controller.signal.aborted
    },
    signal: () => controller.signal,
    leave: () => controller.abort(goneError()),
  }
}
