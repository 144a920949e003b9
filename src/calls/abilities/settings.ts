// The ability to change settings for later verbs. Values of the application are checked here, and made absolute.
import { demandAllowed } from '../application/allowed-verbs.ts'
import type { CallSettings } from '../verb/settings.ts'
import type { ParseVerbs } from '../verb/verb.ts'
import type { GivenDelay, Setting } from '../verb/abilities.ts'
import { delaying } from './hook-wait.ts'

export interface SettingOptions {
  /** The settings of all legs of the call. */
  readonly settings: CallSettings
  readonly verbs: ParseVerbs
  readonly resolveUrl: (url: string) => string
}

const msOf = (seconds: number): number => seconds * 1000

/** The shortest time between actions. Faster actions are a mistake. */
const minBetweenMs = 500

export function createSetting({ settings, verbs, resolveUrl }: SettingOptions): Setting {
  return {
    get recognition() {
      return settings.current.recognition
    },
    get wantsLatency() {
      return settings.current.wantsLatency === true
    },
    change: (change) => settings.change(change),
    resolveUrl,
    toFiller({ enable, url, startDelaySecs = 0 }) {
      if (!enable) return undefined
      // Other platforms call this comfort noise.
      const isNoise = url === undefined || url.startsWith('silence_stream://')
      return { afterMs: msOf(startDelaySecs), url: isNoise ? undefined : resolveUrl(url) }
    },
    toHookDelay(given: GivenDelay) {
      if (given.enabled === false) return undefined
      const { actions = [], giveUpActions = [], noResponseGiveUpTimeout = 0, retries = 0 } = given
      const afterMs = msOf(given.noResponseTimeout ?? 0)
      demandAllowed(verbs(actions), delaying)
      verbs(giveUpActions)
      return {
        actions,
        afterMs: retries > 0 && afterMs > 0 ? Math.max(minBetweenMs, afterMs) : afterMs,
        retries,
        giveUpMs: noResponseGiveUpTimeout === 0 ? undefined : msOf(noResponseGiveUpTimeout),
        giveUp: giveUpActions,
      }
    },
  }
}
