// A recorder that keeps its orders for a test.
import type { Recorder, RecordingEnd, RecordingOrder } from '../../../src/contracts/recording.ts'
import type { Ring } from '../../../src/lib/audio/audio-ring.ts'
import { createRecordingRing } from '../../../src/media/recording/recording-ring.ts'

/** Returns a recorder that records nothing and refuses nothing. */
export function scriptedRecorder(): ScriptedRecorder {
  const recorder: ScriptedRecorder = {
    begun: [],
    async begin(order, listener) {
      await Promise.resolve()
      const ring = createRecordingRing(16)
      const masks: boolean[] = []
      const ended = Promise.withResolvers<RecordingEnd>()
      const end: RecordingEnd = { bytes: 32_000, durationMs: 1000 }
      recorder.begun.push({ order, masks, ring, fail: (reason) => listener.ended(reason), gap: listener.gap })
      const key = `2026/11/21/${order.call_sid}.${order.format}`
      return {
        key,
        spool: 'here',
        ring,
        mask: (isMasked) => void masks.push(isMasked),
        async end() {
          ended.resolve(end)
          return ended.promise
        },
      }
    },
  }
  return recorder
}

export interface ScriptedRecorder extends Recorder {
  readonly begun: {
    readonly order: RecordingOrder
    readonly masks: boolean[]
    readonly ring: Ring
    readonly fail: (reason: string) => void
    readonly gap: (ms: number) => void
  }[]
}
