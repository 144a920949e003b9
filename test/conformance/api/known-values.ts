// What cannot be guessed from the facts of a declared field: values by name, ids of records that no endpoint makes, and what
// a record needs besides.
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
  // Wider ones are not for everyone to enter.
  netmask: () => 32,
  users: () => ['user1'],
  private_network_cidr: () => '10.0.0.0/8',
  // Of what limits there are, one that no request runs into.
  category: () => 'device',
  tenant_fqdn: (count) => `t${count}.teams.example.com`,
  register_from_domain: () => 'sip.example.com',
  // One that is not asked: nothing leaves the machine.
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

/** Ids that are no record's, or of a record that no endpoint makes. */
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

/** Required by a rule of the record and by no single field. */
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
  /** Collections whose records go with it. */
  readonly below: readonly string[]
}

/** Resources that an owner may have one of: the present one makes room for a new one. */
export const onePerOwner: Readonly<Record<string, OnePerOwner>> = {
  createLcr: { path: '/Lcrs', key: 'lcr_sid', below: ['/Lcrs', '/LcrRoutes', '/LcrCarrierSetEntries'] },
}

/** Left out of full bodies: what they would name cannot be there yet. */
export const leftOut: Readonly<Record<string, readonly string[]>> = {
  // They may be sent back as they are, and only so.
  updateSpeechCredentialOfAccount: ['label', 'api_key'],
  updateSpeechCredentialOfServiceProvider: ['label', 'api_key'],
  createLcr: ['default_carrier_set_entry_sid'],
  updateLcr: ['default_carrier_set_entry_sid'],
  // A password is changed by itself.
  updateUser: ['old_password', 'new_password'],
  // Not served; and one that is named counts before all else.
  createCall: ['amd', 'dual_streams', 'application_sid'],
  createAccount: ['device_calling_application_sid', 'siprec_hook_sid'],
  updateAccount: ['device_calling_application_sid', 'siprec_hook_sid'],
}

/** The format of a recording that is there: the account has a bucket with one of every call. */
async function recordingFormat({ storage }: TestApi, { account_sid }: TestTenant): Promise<string> {
  const { accounts } = storage.for(systemTenancy)
  const account = await accounts.find(account_sid)
  const bucket_credential = JSON.stringify(localBucket)
  // Once: a row that is written is another row to those who watch.
  if (account !== undefined && account.bucket_credential !== bucket_credential)
    await accounts.update(account_sid, { bucket_credential })
  return 'wav'
}
