// The settings that `config` makes for later verbs: a pure reducer, and the one value that it changes.
import type { RecognizerForm } from './recognition.ts'
import type { HookForm } from './hook-form.ts'

/** The voice that a verb or the session sets. `default` and absence mean the application's. */
export interface Voice {
  readonly vendor?: string
  readonly label?: string
  readonly language?: string
  readonly voice?: string | object
  /** Used when the first voice has failed, and from then on for the whole call. */
  readonly fallback?: Voice
}

/** The audio that the caller hears while a hook is out. */
export interface Filler {
  /** Undefined for noise that the platform generates. */
  readonly url: string | undefined
  readonly afterMs: number
}

/** The actions to take while an action hook does not answer. */
export interface HookDelay {
  /** The verbs as an application writes them. They run one after the other, and start over after the last. */
  readonly actions: readonly object[]
  readonly afterMs: number
  /** The actions to play before the hook is given up. With 0, one is played, and it is not given up for that. */
  readonly retries: number
  readonly giveUpMs: number | undefined
  /** The verbs that run instead of those of the hook. None of them ends the call. */
  readonly giveUp: readonly object[]
}

export interface Settings {
  /** The default voice of verbs. Parts that it leaves out are the application's. */
  readonly voice: Voice
  /** The hook that decides about a REFER of a far end. */
  readonly referHook?: HookForm
  /** The hook for requests of a far end within its dialog that the platform does not handle itself. */
  readonly requestHook?: HookForm
  /** The default recogniser settings of verbs. */
  readonly recognition: RecognizerForm
  readonly filler?: Filler | undefined
  readonly hookDelay?: HookDelay | undefined
  /** The URL of the audio for one side of a bridge while the other has it on hold. */
  readonly holdMusic?: string
  /** True if hooks about words say how long recognition took. */
  readonly wantsLatency?: boolean
  /** True if an application over WebSocket gets the status of each verb. */
  readonly notifiesVerbs?: boolean
}

/** The wait settings of one verb, which override those of `config`. */
export type WaitWishes = Pick<Settings, 'filler' | 'hookDelay'>

export type SettingsChange =
  | { readonly kind: 'voice'; readonly voice: Voice }
  | { readonly kind: 'reset-voice' }
  | { readonly kind: 'refer-hook' | 'request-hook'; readonly hook: HookForm }
  | { readonly kind: 'recognition'; readonly recognition: RecognizerForm }
  | { readonly kind: 'reset-recognition' }
  | { readonly kind: 'filler'; readonly filler: Filler | undefined }
  | { readonly kind: 'hook-delay'; readonly hookDelay: HookDelay | undefined }
  | { readonly kind: 'hold-music'; readonly url: string }
  | { readonly kind: 'notify-verbs' | 'notify-latency'; readonly isWanted: boolean }

export const initialSettings: Settings = { voice: {}, recognition: {} }

export function changed(settings: Settings, change: SettingsChange): Settings {
  switch (change.kind) {
    case 'voice':
      return { ...settings, voice: { ...settings.voice, ...change.voice } }
    case 'reset-voice':
      return { ...settings, voice: initialSettings.voice }
    case 'refer-hook':
      return { ...settings, referHook: change.hook }
    case 'request-hook':
      return { ...settings, requestHook: change.hook }
    case 'recognition':
      return { ...settings, recognition: { ...settings.recognition, ...change.recognition } }
    case 'reset-recognition':
      return { ...settings, recognition: initialSettings.recognition }
    case 'filler':
      return { ...settings, filler: change.filler }
    case 'hook-delay':
      return { ...settings, hookDelay: change.hookDelay }
    case 'hold-music':
      return { ...settings, holdMusic: change.url }
    case 'notify-latency':
      return { ...settings, wantsLatency: change.isWanted }
    case 'notify-verbs':
      return { ...settings, notifiesVerbs: change.isWanted }
    default:
      return change satisfies never
  }
}

export class CallSettings {
  #current: Settings

  constructor(initial: Settings = initialSettings) {
    this.#current = initial
  }

  get current(): Settings {
    return this.#current
  }

  change(change: SettingsChange): void {
    this.#current = changed(this.#current, change)
  }
}
