// The speech credential of an account, from storage.
import { systemTenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { SpeechCredentials } from '../speech/speech.ts'
import { pickCredential } from '../speech/pick-credential.ts'
import type { Settings } from '../speech/vendor.ts'
import type { Repositories, Row, Storage } from '../storage/storage.ts'

export interface SpeechDirectoryOptions {
  readonly storage: Pick<Storage, 'for'>
  readonly clock: Clock
  readonly log: Logger
}

// Every `say` uses a credential. Its time of use is stored at most once an hour.
const noteEveryMs = 3_600_000

const customVoiceName = /^custom_([0-9a-f-]{36})$/

export function createSpeechDirectory({ storage, clock, log }: SpeechDirectoryOptions): SpeechCredentials {
  const rows = (): Repositories => storage.for(systemTenancy)

  function noteUse({ speech_credential_sid, last_used }: Row<'speech_credentials'>): void {
    const now = clock.now()
    if (last_used !== null && now - last_used < noteEveryMs) return
    rows()
      .speech_credentials.update(speech_credential_sid, { last_used: now })
      .catch((error: unknown) =>
        log.warn({ err: error, speech_credential_sid }, 'last use of a speech credential not noted'),
      )
  }

  /** Returns a custom voice, which belongs to the credential that made it. */
  async function customVoice(voice: string | null, service_provider_sid: string, account_sid: string) {
    const sid = voice === null ? undefined : customVoiceName.exec(voice)?.[1]
    const row = sid === undefined ? undefined : await rows().google_custom_voices.find(sid)
    const isUsable =
      row?.service_provider_sid === service_provider_sid &&
      (row.account_sid === null || row.account_sid === account_sid)
    return isUsable ? row : undefined
  }

  return {
    async find({ account_sid, vendor, label, voice, use }) {
      const account = await rows().accounts.find(account_sid)
      if (account === undefined) return undefined
      const { service_provider_sid } = account
      const list = rows().speech_credentials
      const found = await Promise.all([
        list.list({ where: { account_sid, vendor } }),
        list.list({ where: { service_provider_sid, account_sid: null, vendor } }),
      ])
      const usable = found.flat().filter((row) => row[`use_for_${use}`] === 1)
      const custom =
        vendor === 'google' ? await customVoice(voice, service_provider_sid, account_sid) : undefined
      const credential =
        custom === undefined
          ? pickCredential(usable, label)
          : usable.find(({ speech_credential_sid: sid }) => sid === custom.speech_credential_sid)
      if (credential === undefined) return undefined
      noteUse(credential)
      const settings = JSON.parse(credential.settings) as Settings
      return {
        settings: custom === undefined ? settings : { ...settings, custom_voice: toSetting(custom) },
        owner: credential.account_sid ?? service_provider_sid,
      }
    },
  }
}

function toSetting(row: Row<'google_custom_voices'>): Settings {
  const { model, reported_usage, voice_cloning_key, use_voice_cloning_key } = row
  return { model, reported_usage, voice_cloning_key, use_voice_cloning_key }
}
