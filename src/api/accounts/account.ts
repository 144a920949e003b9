// The resource Account.
import { AppError } from '../../lib/errors.ts'
import { createWebhookSecret } from '../../lib/ids.ts'
import { defineResource } from '../define/resource.ts'
import {
  choice,
  createdAt,
  flag,
  integer,
  recordSid,
  retired,
  sid,
  text,
  time,
  webhook,
} from '../define/fields.ts'
import { resolveOwner } from '../define/owner.ts'
import { bucketCredential, mergeBucketCredential } from './bucket-credential.ts'
import { forgetPhones } from './forget-phones.ts'
import { moveRealm, removeRealm } from './move-realm.ts'
import { demandRealm } from './realm-rules.ts'
import { sipRealm } from './sip-realm.ts'

/** Longer than the answer of any hook may take. */
const maxRingingMs = 60_000

export const accounts = defineResource({
  name: 'Account',
  noun: 'account',
  path: '/Accounts',
  summary: 'A tenant, with its realm, phones, applications and calls.',
  table: 'accounts',
  owner: 'service_provider',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  access: { create: ['admin', 'service_provider'] },
  errors: { create: ['dns_update_failed'], update: ['dns_update_failed'] },
  fields: {
    account_sid: recordSid(),
    name: text({ min: 1, max: 64 }).describe('The name shown to people.').example('Acme Ltd'),
    service_provider_sid: sid('service_providers')
      .fixedAfterCreate()
      .describe('May be left out with the key of a service provider.'),
    sip_realm: sipRealm()
      .optional()
      .describe(
        'The SIP domain that its phones register with. An account itself changes it at /Accounts/{AccountSid}/SipRealms/{SipRealm}.',
      ),
    registration_hook: webhook()
      .optional()
      .describe(
        'Decides who registers and calls, instead of the stored clients. It gets method, realm, username, nonce, uri, response, algorithm, qop, nc, cnonce, expires, source_address, source_port and, in a POST, headers; it answers 200 with {"status": "ok"}, or another status to refuse. Its answer may also contain expires (seconds), application_sid (for a call), msg, blacklist (true: refused as a spammer) and headers (of the refusal).',
      ),
    queue_event_hook: webhook()
      .optional()
      .describe(
        'Called when callers join and leave the queues of the account: /docs/hooks describes its payload. The events of one caller come in order.',
      ),
    device_calling_application_sid: sid('applications')
      .nullable()
      .describe('The application that runs the calls of registered phones.'),
    siprec_hook_sid: sid('applications')
      .nullable()
      .describe(
        'The application that takes recording sessions (SIPREC) of carriers: the streams of a call that is up elsewhere. null: they are refused with 404.',
      ),
    is_active: flag()
      .default(1)
      .describe('0 refuses its calls, registrations, keys and users. The account itself cannot change it.'),
    created_at: createdAt(),
    plan_type: choice(['trial', 'free', 'paid'])
      .readOnly()
      .describe('The plan that the operator sold to the account.'),
    webhook_secret: text({ max: 64 })
      .readOnly()
      .hiddenFromViewers()
      .describe(
        'Signs the requests to its hooks; renewed at /Accounts/{AccountSid}/WebhookSecret. View-only users see a mask.',
      )
      .example('wh_secret_2gT6bPqkSxVn0aYvR4cJ1w'),
    disable_cdrs: flag().default(0).describe('1 keeps no call records.'),
    ringing_after_ms: integer({ min: 0, max: maxRingingMs })
      .nullable()
      .describe(
        'Milliseconds after which a caller hears ringing if no other response was sent; 0: never, null: the value of SWITCHHOOK_RINGING.',
      ),
    sensitive_digits: flag()
      .default(0)
      .describe(
        '1: keys that callers press are shown as x in journals and captures, except where a gather sets `sensitive: false`.',
      ),
    record_all_calls: flag()
      .default(0)
      .describe(
        '1: every call is recorded from its answer on. Its recording includes the legs that it dials.',
      ),
    record_format: choice(['mp3', 'wav'])
      .default('mp3')
      .describe(
        'The file format of recordings, of two channels: what the far end says on the left, what it hears on the right.',
      ),
    bucket_credential: bucketCredential()
      .nullable()
      .describe(
        'The bucket for recordings; without one they are stored on the disk of the platform. Secrets are masked. Recordings are read, and removed with their call records, with the credential that is set at that time: those in another bucket stay there.',
      ),
    enable_debug_log: flag()
      .default(0)
      .describe(
        '1: the log of the platform has a line of level debug for each fact of its next calls, whatever SWITCHHOOK_LOG_LEVEL is, except silent. Keys, tags, messages and the text of SIP are not in it.',
      ),
    device_to_call_ratio: integer({ min: 0, max: 1_000_000 })
      .readOnly()
      .describe('Phones that may register for each call that may be up.'),
    trial_end_date: time()
      .nullable()
      .readOnly()
      .describe('When the trial ends; null: the account is not a trial.'),
    deactivated_reason: text({ max: 255 })
      .nullable()
      .readOnly()
      .describe('Why the operator switched the account off.'),
    stripe_customer_id: retired(),
    subspace_client_id: retired(),
    subspace_client_secret: retired(),
    subspace_sip_teleport_id: retired(),
    subspace_sip_teleport_destinations: retired(),
  },
  /** Refusals of changes by the account itself are further down. */
  async prepare({ sip_realm, service_provider_sid }, row, context) {
    const present = row?.sip_realm ?? null
    if (context.caller.tenancy.level === 'account' || typeof sip_realm !== 'string' || sip_realm === present)
      return undefined
    if (row === undefined) await resolveOwner('service_provider', { service_provider_sid }, context)
    await demandRealm({ realm: sip_realm, account: row }, context)
    return moveRealm(present, sip_realm, context.services)
  },
  async beforeCreate({ bucket_credential }) {
    const columns = { webhook_secret: createWebhookSecret() }
    if (bucket_credential === undefined || bucket_credential === null) return columns
    const merged = mergeBucketCredential(bucket_credential, null)
    return { ...columns, bucket_credential: merged }
  },
  async beforeUpdate(changes, row, { caller }) {
    const isOwnAccount = caller.tenancy.level === 'account'
    if (isOwnAccount && changes.sip_realm !== undefined && changes.sip_realm !== row.sip_realm)
      throw new AppError('bad_request', 'sip_realm is changed at /Accounts/{AccountSid}/SipRealms/{SipRealm}')
    if (isOwnAccount && changes.is_active !== undefined && changes.is_active !== row.is_active)
      throw new AppError('not_permitted', 'an account cannot change its own is_active')
    const { bucket_credential } = changes
    if (bucket_credential === undefined || bucket_credential === null) return undefined
    return { bucket_credential: mergeBucketCredential(bucket_credential, row.bucket_credential) }
  },
  async afterUpdate({ sip_realm }, changes, services) {
    const { sip_realm: next, is_active } = changes
    if (next === null) await removeRealm(sip_realm, services)
    if (is_active === 0 || (next !== undefined && next !== sip_realm)) await forgetPhones(sip_realm, services)
  },
  // The engine ends the calls of an account that is gone, on whichever node they are.
  async afterDelete({ sip_realm }, services) {
    await removeRealm(sip_realm, services)
    await forgetPhones(sip_realm, services)
  },
})
