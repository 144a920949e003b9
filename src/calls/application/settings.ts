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

export interface Settings {
  /** Where a verb says nothing else; what it leaves out is the application's. */
  readonly voice: Voice
  /** Asked where a REFER of a far end may lead. */
  readonly referHook?: HookForm
}

export type SettingsChange =
  | { readonly kind: 'voice'; readonly voice: Voice }
  | { readonly kind: 'reset-voice' }
  | { readonly kind: 'refer-hook'; readonly hook: HookForm }

export const initialSettings: Settings = { voice: {} }

export function changed(settings: Settings, change: SettingsChange): Settings {
  switch (change.kind) {
    case 'voice':
      return { ...settings, voice: { ...settings.voice, ...change.voice } }
    case 'reset-voice':
      return { ...settings, voice: initialSettings.voice }
    case 'refer-hook':
      return { ...settings, referHook: change.hook }
    default:
      return change satisfies never
  }
}

export class CallSettings {
  #current = initialSettings

  get current(): Settings {
    return this.#current
  }

  change(change: SettingsChange): void {
    this.#current = changed(this.#current, change)
  }
}
