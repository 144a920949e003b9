// What `config` has set for the verbs that follow: a pure reducer, and the one value that it changes.
import type { HookForm } from './hook-form.ts'

/** The voice that a verb or the session asks for; `default` and absence mean the application's. */
export interface Voice {
  readonly vendor?: string
  readonly label?: string
  readonly language?: string
  readonly voice?: string | object
  /** Used once the first has failed, and from then on for the whole call. */
  readonly fallback?: Voice
}

/** What is heard while the application is asked. */
export interface Filler {
  /** Undefined: noise that the platform makes. */
  readonly url: string | undefined
  readonly afterMs: number
}

/** What happens while an action hook does not answer. */
export interface HookDelay {
  /** Verbs as an application writes them; one is heard after the other, and the first again after the last. */
  readonly actions: readonly object[]
  readonly afterMs: number
  /** How many of them are heard before the question is given up; 0: one, and it is not given up for that. */
  readonly retries: number
  readonly giveUpMs: number | undefined
  /** These run in place of what the hook would have answered; none ends the call. */
  readonly giveUp: readonly object[]
}

export interface Settings {
  /** Where a verb says nothing else; what it leaves out is the application's. */
  readonly voice: Voice
  /** Asked where a REFER of a far end may lead. */
  readonly referHook?: HookForm
  /** Asked about what a far end sends within its dialog, and nothing here takes. */
  readonly requestHook?: HookForm
  /** How speech is recognised where a verb says nothing else. */
  readonly recognition: object
  readonly filler?: Filler | undefined
  readonly hookDelay?: HookDelay | undefined
  /** The URL of what is heard by one side of a bridge while the other has it on hold. */
  readonly holdMusic?: string
  /** An application over WebSocket gets what becomes of each verb. */
  readonly notifiesVerbs?: boolean
}

/** What one verb says of the time that its hook takes goes before what `config` has set. */
export type WaitWishes = Pick<Settings, 'filler' | 'hookDelay'>

export type SettingsChange =
  | { readonly kind: 'voice'; readonly voice: Voice }
  | { readonly kind: 'reset-voice' }
  | { readonly kind: 'refer-hook' | 'request-hook'; readonly hook: HookForm }
  | { readonly kind: 'recognition'; readonly recognition: object }
  | { readonly kind: 'reset-recognition' }
  | { readonly kind: 'filler'; readonly filler: Filler | undefined }
  | { readonly kind: 'hook-delay'; readonly hookDelay: HookDelay | undefined }
  | { readonly kind: 'hold-music'; readonly url: string }
  | { readonly kind: 'notify-verbs'; readonly isWanted: boolean }

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
