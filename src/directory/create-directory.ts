// The stored realms, users, applications and hooks, for the SIP stack and the call engine.
import type { AccountFacts, ApplicationFacts, CallLimits, ClientFacts } from '../calls/ports.ts'
import type { Hook } from '../contracts/hook.ts'
import { combine, noChoices, choicesOf, type CallDefence } from '../calls/defence-settings.ts'
import { createCarrierDirectory } from './carriers.ts'
import { systemTenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { createMemo, type Memo } from '../lib/memo.ts'
import type { RealmHook } from './registration-hook.ts'
import { createTeamsDirectory } from './teams-tenants.ts'
import { createOutboundDirectory } from './ways-out.ts'
import type { Repositories, Row, Storage, TableName } from '../storage/storage.ts'
import type { StorageDirectory } from './directory.ts'

export interface DirectoryOptions {
  readonly storage: Pick<Storage, 'for'> & { revision(tables?: readonly TableName[]): number }
  readonly clock: Clock
  /** Returns the carriers whose registrar is at an address. Default: none. */
  readonly registrarsAt?: (address: string) => readonly string[]
}

// The revision rises with every change that goes through the platform. A manual change of the tables is seen after this
// time.
const rememberedMs = 5000
const maxRemembered = 10_000

export function createDirectory(options: DirectoryOptions): StorageDirectory {
  const { storage, clock, registrarsAt = () => [] } = options
  const rows = (): Repositories => storage.for(systemTenancy)
  const remember = <V>(tables?: readonly TableName[]): Memo<V> =>
    createMemo<V>({
      revision: () => storage.revision(tables),
      clock,
      lifetimeMs: rememberedMs,
      capacity: maxRemembered,
    })
  const carriers = createCarrierDirectory({ rows, remember, clock, registrarsAt })
  const outbound = createOutboundDirectory({ rows, remember })
  const teams = createTeamsDirectory({ rows, remember })
  const accounts = remember<Row<'accounts'>>()
  // Read twice a second for each account with live calls.
  const accountsBySid = remember<AccountFacts>(['accounts'])
  const clients = remember<Row<'clients'>>()
  const applications = remember<ApplicationFacts>()
  const limits = remember<CallLimits>()
  const defences = remember<CallDefence>(['call_defences', 'accounts', 'service_providers'])
  const secrets = remember<string>()
  // null if there is none: every REGISTER and every call of a user reads this.
  const registrationHooks = remember<RealmHook | null>()

  const queueEventHooks = remember<Hook | null>()

  const accountRow = (realm: string): Promise<Row<'accounts'> | undefined> => {
    const sip_realm = realm.toLowerCase()
    return accounts(
      sip_realm,
      async () => (await rows().accounts.list({ where: { sip_realm }, limit: 1 }))[0],
    )
  }

  const clientRow = (account_sid: string, username: string): Promise<Row<'clients'> | undefined> =>
    clients(
      `${account_sid} ${username}`,
      async () => (await rows().clients.list({ where: { account_sid, username }, limit: 1 }))[0],
    )

  const limit = async (owner: Partial<Row<'limits'>>, category: string): Promise<number | undefined> => {
    const [row] = await rows().limits.list({ where: { ...owner, category }, limit: 1 })
    return row?.quantity
  }

  const hook = async (webhook_sid: string | null): Promise<Hook | null> => {
    if (webhook_sid === null) return null
    const row = await rows().webhooks.find(webhook_sid)
    return row === undefined
      ? null
      : { url: row.url, method: row.method, username: row.username, password: row.password }
  }

  const accountByRealm = async (realm: string): Promise<AccountFacts | undefined> => {
    const account = await accountRow(realm)
    return account === undefined ? undefined : toAccountFacts(account)
  }

  return {
    ...carriers,
    ...outbound,
    ...teams,
    accountByRealm,
    account: (account_sid) =>
      accountsBySid(account_sid, async () => {
        const account = await rows().accounts.find(account_sid)
        return account === undefined ? undefined : toAccountFacts(account)
      }),
    async callLimits({ account_sid, service_provider_sid }) {
      const found = await limits(account_sid, async () => {
        const [account, service_provider] = await Promise.all([
          limit({ account_sid }, 'voice_call_session'),
          limit({ service_provider_sid, account_sid: null }, 'voice_call_session'),
        ])
        return {
          ...(account === undefined ? {} : { account }),
          ...(service_provider === undefined ? {} : { service_provider }),
        }
      })
      return found ?? {}
    },
    async callDefence({ account_sid, service_provider_sid }) {
      const found = await defences(account_sid, async () => {
        const { call_defences } = rows()
        const [own, ofProvider] = await Promise.all([
          call_defences.find(account_sid),
          call_defences.find(service_provider_sid),
        ])
        return combine(choicesOf(ofProvider), choicesOf(own))
      })
      return found ?? combine(noChoices, noChoices)
    },
    async client(account_sid, username) {
      const client = await clientRow(account_sid, username)
      return client === undefined ? undefined : toClientFacts(client)
    },
    application(account_sid, application_sid) {
      return applications(`${account_sid} ${application_sid}`, async () => {
        const row = await rows().applications.find(application_sid)
        if (row?.account_sid !== account_sid) return undefined
        const [call_hook, call_status_hook] = await Promise.all([
          hook(row.call_hook_sid),
          hook(row.call_status_hook_sid),
        ])
        return toApplicationFacts(row, call_hook, call_status_hook)
      })
    },
    async realmState(realm) {
      const account = await accountRow(realm)
      if (account === undefined) return 'unknown'
      return account.is_active === 1 ? 'active' : 'inactive'
    },
    async findUser(realm, username) {
      const account = await accountRow(realm)
      if (account === undefined) return undefined
      const client = await clientRow(account.account_sid, username)
      if (client?.is_active !== 1) return undefined
      return { realm, username, password: client.password }
    },
    async findPeer(realm, username) {
      const account = await accountByRealm(realm)
      const peer = account === undefined ? undefined : await carriers.peer(account, username)
      return peer && { realm, username, password: peer.password, peer: peer.voip_carrier_sid }
    },
    async registrationHook(realm) {
      const remembered = await registrationHooks(realm, async () => {
        const account = await accountRow(realm)
        if (account === undefined) return undefined
        const { account_sid, service_provider_sid } = account
        const own = await hook(account.registration_hook_sid)
        const provider = own === null ? await rows().service_providers.find(service_provider_sid) : undefined
        const found = own ?? (await hook(provider?.registration_hook_sid ?? null))
        return found === null ? null : { account_sid, hook: found }
      })
      return remembered ?? undefined
    },
    async queueEventHook(account_sid) {
      const remembered = await queueEventHooks(account_sid, async () => {
        const row = await rows().accounts.find(account_sid)
        return hook(row?.queue_event_hook_sid ?? null)
      })
      return remembered ?? null
    },
    signingSecret(account_sid) {
      return secrets(account_sid, async () => (await rows().accounts.find(account_sid))?.webhook_secret)
    },
  }
}

function toAccountFacts(row: Row<'accounts'>): AccountFacts {
  return {
    account_sid: row.account_sid,
    service_provider_sid: row.service_provider_sid,
    sip_realm: row.sip_realm,
    is_active: row.is_active === 1,
    device_calling_application_sid: row.device_calling_application_sid,
    siprec_hook_sid: row.siprec_hook_sid,
    disable_cdrs: row.disable_cdrs === 1,
    ringing_after_ms: row.ringing_after_ms,
    sensitive_digits: row.sensitive_digits === 1,
    enable_debug_log: row.enable_debug_log === 1,
    record_all_calls: row.record_all_calls === 1,
    record_format: row.record_format === 'wav' ? 'wav' : 'mp3',
  }
}

function toClientFacts(row: Row<'clients'>): ClientFacts {
  return {
    client_sid: row.client_sid,
    username: row.username,
    is_active: row.is_active === 1,
    allow_direct_app_calling: row.allow_direct_app_calling === 1,
    allow_direct_queue_calling: row.allow_direct_queue_calling === 1,
    allow_direct_user_calling: row.allow_direct_user_calling === 1,
  }
}

/** Returns nothing without a vendor: it would be the first voice again. */
function fallbackVoiceOf(row: Row<'applications'>): Pick<ApplicationFacts, 'fallback_voice'> {
  const vendor = row.fallback_speech_synthesis_vendor
  if (row.use_for_fallback_speech !== 1 || vendor === null) return {}
  const {
    fallback_speech_synthesis_language: language,
    fallback_speech_synthesis_voice: voice,
    fallback_speech_synthesis_label: label,
  } = row
  return {
    fallback_voice: {
      vendor,
      ...(language === null ? {} : { language }),
      ...(voice === null ? {} : { voice }),
      ...(label === null ? {} : { label }),
    },
  }
}

/** Returns nothing without a vendor, as for the voice. */
function fallbackRecognizerOf(row: Row<'applications'>): Pick<ApplicationFacts, 'fallback_recognizer'> {
  const vendor = row.fallback_speech_recognizer_vendor
  if (row.use_for_fallback_speech !== 1 || vendor === null) return {}
  const { fallback_speech_recognizer_language: language, fallback_speech_recognizer_label: label } = row
  return {
    fallback_recognizer: {
      vendor,
      ...(language === null ? {} : { language }),
      ...(label === null ? {} : { label }),
    },
  }
}

function toApplicationFacts(
  row: Row<'applications'>,
  call_hook: Hook | null,
  call_status_hook: Hook | null,
): ApplicationFacts {
  return {
    application_sid: row.application_sid,
    account_sid: row.account_sid,
    call_hook,
    call_status_hook,
    app_json: row.app_json,
    speech_synthesis_vendor: row.speech_synthesis_vendor,
    speech_synthesis_language: row.speech_synthesis_language,
    speech_synthesis_voice: row.speech_synthesis_voice,
    speech_synthesis_label: row.speech_synthesis_label,
    ...fallbackVoiceOf(row),
    ...fallbackRecognizerOf(row),
    speech_recognizer_vendor: row.speech_recognizer_vendor,
    speech_recognizer_language: row.speech_recognizer_language,
    speech_recognizer_label: row.speech_recognizer_label,
    record_all_calls: row.record_all_calls === 1,
    env_vars: row.env_vars === null ? null : (JSON.parse(row.env_vars) as Record<string, unknown>),
  }
}
