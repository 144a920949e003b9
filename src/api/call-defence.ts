// The calls that an account may make: its own settings, those of its provider, and the result of both.
import {
  combine,
  defenceLimits,
  defaultLimits,
  isOpen,
  killSwitches,
  destinationClasses,
  choicesOf,
  type CallDefence,
  type DefenceLimit,
  type DestinationClass,
  type StoredChoices,
} from '../calls/defence-settings.ts'
import type { Row } from '../storage/storage.ts'
import { createField, type Changes, type Field } from './define/field.ts'
import { boolean, choice, integer, text } from './define/fields.ts'
import { number, object, wordOrNull } from './define/reply-fields.ts'
import type { RecordContext } from './define/request.ts'
import { defineRoute, everyone } from './define/route.ts'

const maxPrefixes = 200

const killSwitchText =
  'off; new_calls: no new call leaves the platform; all_calls: calls that are up are ended as well. Null: off. Calls between the phones of the account continue.'
const countryText =
  'The calling code, such as 44, of the country whose national numbers are dialled: numbers without a plus are then read as in that country. If the service provider names another country, they are read both ways.'
const classTexts: Readonly<Record<DestinationClass, string>> = {
  premium_rate: 'Premium rates: +979, and national ones as +1900, +449 and +49900.',
  satellite: 'Satellites and international networks: +870, +881, +882, +883.',
  high_risk: 'Country codes with few ordinary calls that are known for revenue share fraud.',
}
const limitTexts: Readonly<Record<DefenceLimit, string>> = {
  calls_per_second: 'Outbound calls in a second, on each node',
  calls_per_minute: 'Outbound calls in a minute',
  concurrent_calls: 'Outbound calls at one time',
  minutes_per_day: 'Minutes of outbound calls in a day, which begins at midnight UTC',
}

const limit = (name: DefenceLimit) =>
  integer({ min: 0, max: 100_000_000 })
    .nullable()
    .describe(`${limitTexts[name]}. 0: no limit; null: the limit of the provider, or ${defaultLimits[name]}.`)
const opening = (name: DestinationClass) =>
  boolean().nullable().describe(`${classTexts[name]} Null: as the provider sets it, or closed.`)

function prefixes(description: string): Field<readonly string[], 'optional'> {
  const items = { type: 'string', pattern: '^\\+\\d{0,14}$', 'x-rule': 'must be a plus and up to 14 digits' }
  return createField<readonly string[]>({
    schema: { type: 'array', maxItems: maxPrefixes, items },
    example: ['+88216'],
  })
    .default([])
    .describe(`${description} The longest matching prefix decides; of two equal ones, the closed one.`)
}

const settings = {
  kill_switch: choice(killSwitches).nullable().describe(killSwitchText),
  allow_premium_rate: opening('premium_rate'),
  allow_satellite: opening('satellite'),
  allow_high_risk: opening('high_risk'),
  open_prefixes: prefixes('Numbers that may be called although their class is closed.'),
  closed_prefixes: prefixes('Numbers that may not be called. `+` closes all that no other prefix opens.'),
  country_code: text({ min: 1, max: 3, pattern: '^[1-9]\\d{0,2}$', rule: 'must be a calling code as 44' })
    .nullable()
    .describe(countryText),
  calls_per_second: limit('calls_per_second'),
  calls_per_minute: limit('calls_per_minute'),
  concurrent_calls: limit('concurrent_calls'),
  minutes_per_day: limit('minutes_per_day'),
}

const effective = object({
  kill_switch: choice(killSwitches).describe('The stricter one of both.'),
  allow_premium_rate: boolean().describe('Whether the class is open.'),
  allow_satellite: boolean().describe('Whether the class is open.'),
  allow_high_risk: boolean().describe('Whether the class is open.'),
  country_code: wordOrNull('The calling code.'),
  calls_per_second: number('0: no limit.'),
  calls_per_minute: number('0: no limit.'),
  concurrent_calls: number('0: no limit.'),
  minutes_per_day: number('0: no limit.'),
})

const used = object({
  calls_per_second: number('In this second, on this node.'),
  calls_per_minute: number('In this minute. The counts of other nodes are up to ten seconds old.'),
  concurrent_calls: number('Now.'),
  minutes_per_day: number('Since midnight UTC.'),
})

const accountPath = '/Accounts/{AccountSid}/CallDefence'
const providerPath = '/ServiceProviders/{ServiceProviderSid}/CallDefence'
const above = ['admin', 'service_provider'] as const
const written = { status: 204, description: 'Changed. It applies from the next call on.' } as const

const readOfAccount = defineRoute({
  method: 'GET',
  path: accountPath,
  access: everyone,
  operationId: 'readCallDefence',
  tag: 'CallDefence',
  summary: 'What an account may call, how much, and how much of it is used.',
  reply: {
    status: 200,
    description: 'The settings of the account, those in force, and how much of each limit is used.',
    component: 'CallDefence',
    body: object({
      ...settings,
      effective: effective.describe('The values in force, from the account and its provider.'),
      used: used.describe('How much of each limit is used.'),
    }),
  },
  errors: ['not_found'],
  async handle({ account, rows, services }) {
    const { account_sid, service_provider_sid } = account
    const own = await rows.call_defences.find(account_sid)
    const ofProvider = await rows.call_defences.find(service_provider_sid)
    const defence = combine(choicesOf(ofProvider), choicesOf(own))
    const usage = services.calls.outboundUsage(account_sid)
    return { ...shown(own), effective: effectOf(defence), used: usage }
  },
})

const writeOfAccount = defineRoute({
  method: 'PUT',
  path: accountPath,
  access: everyone,
  operationId: 'updateCallDefence',
  tag: 'CallDefence',
  summary: 'Changes what an account may call, and how much.',
  description:
    'Members that are left out stay as they are. An account may close what its provider leaves open, and open what its provider does not forbid; a limit above that of the provider counts as that of the provider.',
  body: settings,
  isPartial: true,
  reply: written,
  errors: ['not_found'],
  handle: ({ account: { account_sid }, body, ...context }) => write({ account_sid }, body, context),
})

const readOfProvider = defineRoute({
  method: 'GET',
  path: providerPath,
  access: above,
  operationId: 'readCallDefenceOfServiceProvider',
  tag: 'CallDefence',
  summary: 'The settings of a service provider for its accounts.',
  reply: {
    status: 200,
    description: 'The settings of the provider.',
    component: 'CallDefenceOfServiceProvider',
    body: object(settings),
  },
  errors: ['not_found'],
  handle: async ({ provider: { service_provider_sid }, rows }) =>
    shown(await rows.call_defences.find(service_provider_sid)),
})

const writeOfProvider = defineRoute({
  method: 'PUT',
  path: providerPath,
  access: above,
  operationId: 'updateCallDefenceOfServiceProvider',
  tag: 'CallDefence',
  summary: 'Changes the settings of a service provider for its accounts.',
  description:
    'Members that are left out stay as they are. A limit applies to each account that has none of its own, and is the most that an account may set. A class that is false is closed to all accounts; true opens it to those that do not close it. Prefixes of the provider come before those of accounts.',
  body: settings,
  isPartial: true,
  reply: written,
  errors: ['not_found'],
  handle: ({ provider: { service_provider_sid }, body, ...context }) =>
    write({ service_provider_sid }, body, context),
})

type Owner = { readonly account_sid: string } | { readonly service_provider_sid: string }

async function write(
  owner: Owner,
  body: Changes<typeof settings>,
  { caller, services }: Pick<RecordContext, 'caller' | 'services'>,
): Promise<void> {
  const columns = toColumns(body)
  await services.storage.transaction(caller.tenancy, async (rows) => {
    const call_defence_sid = 'account_sid' in owner ? owner.account_sid : owner.service_provider_sid
    const present = await rows.call_defences.find(call_defence_sid)
    if (present !== undefined) await rows.call_defences.update(call_defence_sid, columns)
    else await rows.call_defences.insert({ call_defence_sid, ...owner, ...columns })
  })
  services.log.info({ ...owner, ...columns }, 'call defence changed')
}

function toColumns(body: Changes<typeof settings>): Partial<Row<'call_defences'>> {
  const cellOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return JSON.stringify(value)
    return typeof value === 'boolean' ? Number(value) : value
  }
  return Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, cellOf(value)]),
  )
}

function shown(row: StoredChoices | undefined) {
  const { allow, ...choices } = choicesOf(row)
  return {
    ...choices,
    allow_premium_rate: allow.premium_rate,
    allow_satellite: allow.satellite,
    allow_high_risk: allow.high_risk,
  }
}

function effectOf(defence: CallDefence) {
  const [premium, satellite, risk] = destinationClasses.map((name) => isOpen(defence, name))
  const { killSwitch, country = null, limits } = defence
  const shownLimits = Object.fromEntries(
    defenceLimits.map((name) => [name, Number.isFinite(limits[name]) ? limits[name] : 0]),
  ) as Record<DefenceLimit, number>
  return {
    ...shownLimits,
    kill_switch: killSwitch,
    allow_premium_rate: premium === true,
    allow_satellite: satellite === true,
    allow_high_risk: risk === true,
    country_code: country,
  }
}

export const callDefenceRoutes = [readOfAccount, writeOfAccount, readOfProvider, writeOfProvider]
