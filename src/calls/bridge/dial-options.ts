// The parts of the dialling call that a dial needs.
import type { Notes } from '../verb/abilities.ts'
import type { LegVoice } from '../voice/voice.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'
import type { MachineDetection } from '../verb/machine-detection.ts'
import type { TalkTranscription } from '../verb/recognition.ts'
import type { AccountFacts } from '../ports.ts'
import type { BridgeNeeds } from './needs.ts'

type Fields = Readonly<Record<string, unknown>>

/** A detection that runs. `stop` is idempotent. */
export interface Watch {
  stop(): void
}

export interface DialOptions {
  /** The leg that dials. */
  readonly parent: Leg
  readonly account: AccountFacts
  readonly needs: BridgeNeeds
  readonly nested: NestedVerbs
  readonly voice: Pick<LegVoice, 'play' | 'borrow'>
  /** Transcribes the two while they talk, and detects answering machines. */
  readonly hearing: {
    hearTalk(request: TalkTranscription, called: Leg): void
    endTalk(): void
    watch(request: MachineDetection, options: { readonly on: Leg; readonly fields: Fields }): Watch
  }
  readonly notes: Notes
  /** Resolves when one more leg may be dialled, or the signal aborts. */
  readonly turn: (signal: AbortSignal) => Promise<void>
}
