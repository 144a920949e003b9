// Somebody who waits for an answer, and goes when the test says so.
import { goneError } from '../../src/lib/asker.ts'
import type { Asker } from '../../src/lib/asker.ts'

export interface TestAsker extends Asker {
  leave(): void
}

export function createTestAsker(): TestAsker {
  const listeners = new Set<() => void>()
  const controller = new AbortController()
  let isGone = false
  return {
    get isGone() {
      return isGone
    },
    onGone: (listener) => void listeners.add(listener),
    offGone: (listener) => void listeners.delete(listener),
    signal: () => controller.signal,
    leave() {
      isGone = true
      controller.abort(goneError())
      for (const listener of listeners) listener()
    },
  }
}
