// The values that cannot be derived from the facts of a declared field: values by name, ids of records that no endpoint
// makes, and further values that a record needs.
import { systemTenancy } from '../../../src/contracts/caller.ts'
import { traceIdOf } from '../../../src/lib/ids.ts'
import type { TestApi } from '../../support/api.ts'
import type { TestTenant } from '../../support/api-tenants.ts'
import { localBucket } from '../../support/s3-bucket.ts'
import { callIdOf, callOf } from './live-call.ts'

export type Values = Readonly<Record<string, unknown>>

/** Values by `operationId.field`, or by field wherever it occurs. */
export const known: Readonly<Record<string, (count: number) => unknown>> = {
  sip_realm: (count) => `r${count}.sip.example.com`,
  app_json: () => '[{"verb":"pause","length":1}]',
  env_vars: () => ({ greeting: 'Good morning' }),
  bucket_credential: () => localBucket,
  username: (count) => `user${count}`,
  email: (count) => `user${count}@example.com`,
  expires_at: () => '2099-01-01T00:00:00.000Z',
  initial_password: () => 'Correct-horse-7',
  ipv4: (count) => `192.0.2.${count % 250}`,
  country_code: () => '44',
  source_address: (count) => `192.0.2.${count % 250}`,
  // Wider networks are reserved to some clients.
  netmask: () => 32,
  users: () => ['user1'],
  private_network_cidr: () => '10.0.0.0/8',
  // A category of limits that no request of the tests reaches.
  category: () => 'device',
  tenant_fqdn: (count) => `t${count}.teams.example.com`,
  register_from_domain: () => 'sip.example.com',
  // A vendor that is not contacted: no request leaves the machine.
  vendor: () => 'soniox',
  options: () => '{}',
  encodingMp3: () => false,
  service_key: () => '{"client_email":"a@example.com","private_key":"none"}',
  custom_stt_endpoint_url: () => 'https://speech.example.com/stt',
  custom_stt_url: () => 'wss://speech.example.com/stt',
  custom_tts_endpoint_url: () => 'https://speech.example.com/tts',
  custom_tts_streaming_url: () => 'wss://speech.example.com/tts',
  custom_tts_url: () => 'https://speech.example.com/tts',
}

/** Ids that belong to no record, or to a record that no endpoint makes. */
export const knownIds: Readonly<
  Record<string, (api: TestApi, tenant: TestTenant, count: () => number) => string | Promise<string>>
> = {
  AccountSid: (_api, { account_sid }) => account_sid,
  ServiceProviderSid: (_api, { service_provider_sid }) => service_provider_sid,
  CallSid: callOf,
  Client: () => 'reception',
  SipCallId: (api, tenant) => callIdOf(callOf(api, tenant)),
  TraceId: (api, tenant) => traceIdOf(callOf(api, tenant)),
  Method: () => 'invite',
  Year: () => '2026',
  Month: () => '11',
  Day: () => '21',
  Format: recordingFormat,
  SipRealm: (_api, _tenant, count) => `s${count()}.sip.example.com`,
  PredefinedCarrierSid: async (api) => {
    const { body } = await api.get('/PredefinedCarriers', api.adminKey)
    return (body as { predefined_carrier_sid: string }[])[0]?.predefined_carrier_sid ?? ''
  },
}

/** Fields that a rule of the whole record requires, and not their own declaration. */
export const alsoNeeded: Readonly<Record<string, (tenant: TestTenant) => Values>> = {
  createSpeechCredentialOfAccount: () => ({ api_key: 'a-key-of-a-vendor' }),
  createSpeechCredentialOfServiceProvider: () => ({ api_key: 'a-key-of-a-vendor' }),
  createApiKey: ({ account_sid }) => ({ account_sid }),
  createCall: () => ({
    call_hook: 'https://app.example.com/call',
    speech_synthesis_vendor: 'default',
    speech_synthesis_language: 'en-US',
    speech_synthesis_voice: 'default',
    speech_recognizer_vendor: 'default',
    speech_recognizer_language: 'en-US',
  }),
  updateUser: () => ({ force_change: false }),
  updateCall: () => ({ sip_request: { method: 'INFO', content_type: 'text/plain', content: 'order 7' } }),
  updateCallByPost: () => ({
    sip_request: { method: 'INFO', content_type: 'text/plain', content: 'order 7' },
  }),
}

export interface OnePerOwner {
  readonly path: string
  readonly key: string
  /** Collections whose records are removed with it. */
  readonly below: readonly string[]
}

/** Resources of which an owner may have one: the existing one is removed before a new one is made. */
export const onePerOwner: Readonly<Record<string, OnePerOwner>> = {
  createLcr: { path: '/Lcrs', key: 'lcr_sid', below: ['/Lcrs', '/LcrRoutes', '/LcrCarrierSetEntries'] },
}

/** Fields that full bodies leave out, mostly because the records that they would name cannot exist yet. */
export const leftOut: Readonly<Record<string, readonly string[]>> = {
  // These may only be sent back unchanged.
  updateSpeechCredentialOfAccount: ['label', 'api_key'],
  updateSpeechCredentialOfServiceProvider: ['label', 'api_key'],
  createLcr: ['default_carrier_set_entry_sid'],
  updateLcr: ['default_carrier_set_entry_sid'],
  // A password is changed in a separate request.
  updateUser: ['old_password', 'new_password'],
  // Some are not served; the application has priority over the other fields.
  createCall: ['dual_streams', 'application_sid'],
  createAccount: ['device_calling_application_sid', 'siprec_hook_sid'],
  updateAccount: ['device_calling_application_sid', 'siprec_hook_sid'],
}

/** Returns the format of an existing recording: the account gets a bucket with one of every call. */
async function recordingFormat({ storage }: TestApi, { account_sid }: TestTenant): Promise<string> {
  const { accounts } = storage.for(systemTenancy)
  const account = await accounts.find(account_sid)
  const bucket_credential = JSON.stringify(localBucket)
  // Written once: another write would make another version of the row, which some tests watch.
  if (account !== undefined && account.bucket_credential !== bucket_credential)
    await accounts.update(account_sid, { bucket_credential })
  return 'wav'
}
