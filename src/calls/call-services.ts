// Everything that a call needs from the platform, passed in by app.ts through createCalls.
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Media } from '../media/media.ts'
import type { Sip } from '../sip/sip.ts'
import type { AccountFacts, Directory, TeamsFacts, TrunkState } from './ports.ts'
import type { AudioFetcher, Speech } from '../contracts/speech.ts'
import type { AppSockets } from '../contracts/app-socket.ts'
import type { Recorder } from '../contracts/recording.ts'
import type { Streams } from '../contracts/audio-stream.ts'
import type { NumberTrust } from '../contracts/number-trust.ts'
import type { Hooks } from '../contracts/hook.ts'
import type { CallPool } from './routing/call-limits.ts'
import type { NodeFacts } from './journal/hook-payloads.ts'
import type { ReadCommands, ReadFrame, ReadOrder } from './command.ts'
import type { ParseVerbs, ReadVerbs } from './verb.ts'
import type { CallStore } from './journal/journal.ts'

export interface CallServices {
  /** A function, because the stack is created with handlers that refer back to the engine. */
  readonly sip: () => Pick<
    Sip,
    | 'hasUserAt'
    | 'authenticate'
    | 'bindings'
    | 'byeIn'
    | 'drain'
    | 'addressFor'
    | 'invite'
    | 'listening'
    | 'open'
    | 'reach'
    | 'resolve'
    | 'rest'
  >
  readonly media: Pick<Media, 'open' | 'demandServable'>
  readonly directory: Directory
  readonly trunks: TrunkState
  readonly teams: TeamsFacts
  readonly numberTrust: NumberTrust
  /** Whether a customer's SIP URI may lead to this IP address. */
  readonly isAllowedAddress: (address: string) => boolean
  /** Whether only the operator manages carriers, so that an account may reach only carriers of its own. */
  readonly reservesCarriers: boolean
  /** Called with the host name to which a carrier of the account has sent a call. */
  readonly carrierCalled: (account: Pick<AccountFacts, 'account_sid'>, host: string) => void
  /** Whether a customer may direct media to this IP address; through a proxy of the operator, its signalling too. */
  readonly isAllowedHop: (address: string) => boolean
  /** Whether this IP address is a SIP proxy of the operator. Messages from it are those of the users behind it. */
  readonly isSipProxy: (address: string) => boolean
  readonly hooks: Hooks
  readonly appSockets: AppSockets
  readonly store: CallStore
  readonly speech: Speech
  readonly recorder: Recorder
  readonly audio: AudioFetcher
  readonly streams: Streams
  /** Parses verbs within a message or an option, which are few. */
  readonly verbs: ParseVerbs
  /** Parses the answer of an application. */
  readonly readVerbs: ReadVerbs
  readonly commands: ReadCommands
  readonly frames: ReadFrame
  readonly orders: ReadOrder
  readonly clock: Clock
  /** Returns a number from 0 up to but not including 1. It distributes calls among carriers. */
  readonly random: () => number
  readonly log: Logger
  readonly node: () => NodeFacts
  readonly maxCallMs: number
  /** The time after which a caller that has heard nothing else hears ringing; 0: never. */
  readonly ringingMs: number
  readonly pool: CallPool
}
