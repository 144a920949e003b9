// The resource Application.
import { AppError } from '../lib/errors.ts'
import type { Repositories } from '../storage/storage.ts'
import { valuesFault } from '../webhooks/app-env.ts'
import { demandVerbs } from './define/app-json.ts'
import { defineResource } from './define/resource.ts'
import { createdAt, flag, json, partOf, recordSid, retired, sid, text, webhook } from './define/fields.ts'
import { ofAccount } from './define/list-route.ts'
import type { RecordContext } from './define/request.ts'
import type { ApiRoute } from './define/route.ts'

const applicationHook = { empty: 'changes nothing', showsSid: true, ways: 'http or ws' } as const

// The embedded voice is chosen by leaving its vendor, language, voice and label unset.
const vendor = text({ max: 64 })
const language = text({ max: 64 })
const voice = text({ max: 256 })
const label = text({ max: 64 })

const applicationUsers = {
  phone_numbers: 'phone numbers',
  voip_carriers: 'carriers',
  ms_teams_tenants: 'Microsoft Teams tenants',
} as const

// An application reads these in its first hook; nothing here listens.
const inDefaults = ' Sent to the call hook in `defaults.recognizer`.'

export const applications = defineResource({
  name: 'Application',
  noun: 'application',
  path: '/Applications',
  summary: 'The hooks, or the verbs, that run a call.',
  table: 'applications',
  owner: 'account',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: { filters: { name: partOf('name') }, isPaged: true },
  errors: { create: ['account_share'], update: ['account_share'] },
  fields: {
    application_sid: recordSid(),
    name: text({ min: 1, max: 64 }).describe('Unique within the account.').example('front desk'),
    account_sid: sid('accounts')
      .fixedAfterCreate()
      .describe('May be left out with a key of the account itself.'),
    // Only an application of a provider itself would have a value here; every application has an account.
    service_provider_sid: retired(),
    call_hook: webhook(applicationHook).describe('Asked for verbs when a call arrives.'),
    call_status_hook: webhook(applicationHook).describe('Receives every change of a call.'),
    messaging_hook: webhook(applicationHook)
      .optional()
      .describe('Asked what to do with a message.')
      .notServed('messaging'),
    app_json: text({ max: 262_144, anyCharacters: true })
      .optional()
      .describe('JSON text: an array of verbs to run instead of asking `call_hook`.')
      .example('[{"verb":"say","text":"Hello."}]'),
    speech_synthesis_vendor: vendor.optional().describe('Left out: the embedded voice.'),
    speech_synthesis_language: language.nullable().describe('The language of verbs that name none: `en-US`.'),
    speech_synthesis_voice: voice.optional().describe('The voice of verbs that name none.'),
    speech_synthesis_label: label
      .nullable()
      .describe('The label of the credential that speaks, if the vendor has several.'),
    speech_recognizer_vendor: vendor
      .optional()
      .describe(`The vendor of speech recognition for verbs that name none.${inDefaults}`),
    speech_recognizer_language: language
      .optional()
      .describe(`The language of speech recognition for verbs that name none: \`en-US\`.${inDefaults}`),
    speech_recognizer_label: label
      .nullable()
      .describe(`The label of the credential that listens, if the vendor has several.${inDefaults}`),
    use_for_fallback_speech: flag()
      .default(0)
      .describe('1: the fields that follow apply when a vendor fails.'),
    fallback_speech_synthesis_vendor: vendor
      .nullable()
      .describe('The vendor that speaks once the first one has failed, for the rest of the call.'),
    fallback_speech_synthesis_language: language
      .nullable()
      .describe('The language of the second vendor. Left out: that of the first.'),
    fallback_speech_synthesis_voice: voice.nullable().describe('The voice of the second vendor.'),
    fallback_speech_synthesis_label: label
      .nullable()
      .describe('The label of the credential with which the second vendor speaks.'),
    fallback_speech_recognizer_vendor: vendor
      .nullable()
      .describe(`The vendor of speech recognition once the first one has failed.${inDefaults}`),
    fallback_speech_recognizer_language: language
      .nullable()
      .describe(`The language of the second vendor.${inDefaults}`),
    fallback_speech_recognizer_label: label
      .nullable()
      .describe(`The label of the credential with which the second vendor listens.${inDefaults}`),
    record_all_calls: flag()
      .default(0)
      .describe('1: every call that it runs is recorded from its answer on.'),
    env_vars: json()
      .optional()
      .describe(
        'Sent with the call hook; stored encrypted. Must match the variables that the application publishes: see /AppEnv.',
      )
      .example({ greeting: 'Good morning' }),
    created_at: createdAt(),
  },
  /** Checks the variables against those that the application publishes, if any. */
  async prepare({ env_vars, call_hook, account_sid }, row, { caller, rows, services, whenGone }) {
    await refuseForeign(account_sid, { caller, rows })
    if (env_vars === undefined || env_vars === null) return undefined
    const url = call_hook?.url ?? (await storedUrl(row?.call_hook_sid, rows))
    const published = url === undefined ? undefined : await services.appEnv.ask(url, whenGone())
    if (published?.outcome !== 'schema') return undefined
    const fault = valuesFault(published.schema, env_vars)
    if (fault !== undefined) throw new AppError('bad_request', `env_vars: ${fault}`)
    return undefined
  },
  async beforeCreate({ app_json }, { services }) {
    if (typeof app_json === 'string') await demandVerbs(app_json, services.verbsFault)
    return undefined
  },
  async beforeUpdate({ app_json, call_hook, call_status_hook }, _row, { services }) {
    for (const [name, hook] of Object.entries({ call_hook, call_status_hook })) {
      if (hook === null) throw new AppError('bad_request', `${name} is required and cannot be cleared`)
    }
    if (typeof app_json === 'string') await demandVerbs(app_json, services.verbsFault)
    return undefined
  },
  async beforeDelete({ application_sid, account_sid }, { rows }) {
    const account = await rows.accounts.find(account_sid)
    const user = (['device_calling_application_sid', 'siprec_hook_sid'] as const).find(
      (field) => account?.[field] === application_sid,
    )
    if (user !== undefined)
      throw new AppError('in_use', `the account still names this application as ${user}`)
    for (const [table, users] of Object.entries(applicationUsers)) {
      const count = await rows[table as keyof typeof applicationUsers].count({ where: { application_sid } })
      if (count > 0) throw new AppError('in_use', `${users} still refer to this application`)
    }
  },
})

const oneOfAccount = '/Accounts/{AccountSid}/Applications/{ApplicationSid}'

/** The paths for client libraries that have an account, and name it with every resource. */
export const applicationsOfAccount: readonly ApiRoute[] = [
  applications.listedAt({
    path: '/Accounts/{AccountSid}/Applications',
    operationId: 'listApplicationsOfAccount',
    where: ofAccount,
  }),
  applications.createdAt({
    path: '/Accounts/{AccountSid}/Applications',
    operationId: 'createApplicationOfAccount',
    where: ofAccount,
  }),
  applications.readAt({ path: oneOfAccount, operationId: 'getApplicationOfAccount', where: ofAccount }),
  applications.updatedAt({ path: oneOfAccount, operationId: 'updateApplicationOfAccount', where: ofAccount }),
  applications.removedAt({ path: oneOfAccount, operationId: 'deleteApplicationOfAccount', where: ofAccount }),
]

/** Refuses in the words that clients of this endpoint look for. */
async function refuseForeign(
  account_sid: string | undefined,
  { caller, rows }: Pick<RecordContext, 'caller' | 'rows'>,
): Promise<void> {
  if (account_sid === undefined || caller.tenancy.level === 'admin') return
  if ((await rows.accounts.find(account_sid)) === undefined)
    throw new AppError('not_permitted', 'insufficient privileges')
}

async function storedUrl(
  webhook_sid: string | null | undefined,
  { webhooks }: Pick<Repositories, 'webhooks'>,
): Promise<string | undefined> {
  return typeof webhook_sid === 'string' ? (await webhooks.find(webhook_sid))?.url : undefined
}
