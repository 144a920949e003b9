// The resource PhoneNumber: a number, and the application for calls to it.
import { AppError } from '../lib/errors.ts'
import { maxInstructions, maxMatched, maxRepeats, patternFault } from '../lib/pattern.ts'
import type { Repositories, Row } from '../storage/storage.ts'
import { demandFreeRange } from './number-ranges.ts'
import { tooLarge } from './lcrs/dial-pattern.ts'
import { createField, type Field } from './define/field.ts'
import { partOf, recordSid, sid, text } from './define/fields.ts'
import { defineResource } from './define/resource.ts'

// A dot is a separator of RFC 3966, but stands for any digit in a pattern: `1555.` has five digits.
const separators = /[-()\p{Zs}\p{Cf}]/gu
const digits = /^\+?\d+$/

/** Returns the number as calls are matched: clients write it with and without the plus and separators. */
function asMatched(number: string): string {
  const bare = number.replaceAll(separators, '')
  return (digits.test(bare) ? bare : number).replace(/^\+/, '')
}

// Each call that matches no plain number is compared with the patterns of its carrier.
const maxPatterns = 100

// ITU-T E.164 §6.2: a country code, which never begins with 0, and at most 15 digits.
const e164 = /^\+[1-9]\d{1,14}$/

export const phoneNumbers = defineResource({
  name: 'PhoneNumber',
  noun: 'phone number',
  path: '/PhoneNumbers',
  summary: 'A number that calls come in on.',
  table: 'phone_numbers',
  owner: 'any',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: {
    isPaged: true,
    orderBy: ['number'],
    filters: {
      filter: partOfNumber(),
      account_sid: sid().optional().describe('Only numbers of this account.'),
      service_provider_sid: sid()
        .optional()
        .describe('Only numbers of this service provider and its accounts.'),
    },
  },
  fields: {
    phone_number_sid: recordSid(),
    number: text({
      min: 1,
      max: 132,
      // At least one character after the plus; patterns are allowed, and a number may have spaces.
      pattern:
        '^(?:[+\\d\\-() ]*\\d[\\d\\-() ]*|\\+?[^\\s+\\u0000-\\u001f\\u007f-\\u009f][^\\s\\u0000-\\u001f\\u007f-\\u009f]*)$',
      rule: 'must be a number or a pattern without white space and control characters',
    })
      .fixedAfterCreate((number) => (typeof number === 'string' ? asMatched(number) : number))
      .describe(
        `Shown without a leading plus and separators (\`-\`, \`(\`, \`)\`, spaces), and unique with its carrier. With other characters than digits it is a pattern: 1555* matches any number that begins with 1555; any other pattern is a regular expression, which is matched with numbers of at most ${maxMatched} characters, may have ${maxInstructions} instructions when compiled, and may repeat a part {n} up to ${maxRepeats} times.`,
      )
      .example('15551230100'),
    received_number: text({ max: 132 }).readOnly().describe('As it was sent.').example('+15551230100'),
    e164_number: text({ max: 16 })
      .nullable()
      .readOnly()
      .describe(
        'Only for a number that was sent in E.164 form; the platform does not guess whether a bare one is national.',
      )
      .example('+15551230100'),
    voip_carrier_sid: sid('voip_carriers')
      .nullable()
      .fixedAfterCreate()
      .describe('A carrier of the account, or shared with it.'),
    account_sid: sid('accounts').nullable().describe('The account that takes its calls.'),
    application_sid: sid('applications')
      .nullable()
      .describe('The application that runs calls to this number.'),
    service_provider_sid: sid('service_providers')
      .nullable()
      .fixedAfterCreate()
      .describe('The service provider it belongs to.'),
  },
  errors: { create: ['in_use'] },
  async beforeCreate({ number, voip_carrier_sid = null, account_sid = null }, context) {
    const { rows } = context
    const isPattern = /\D/.test(asMatched(number))
    if (isPattern && patternFault(asMatched(number)) === 'size') throw tooLarge('number')
    await demandFreeRange({ number: asMatched(number), isPattern, voip_carrier_sid }, context)
    if (isPattern) await demandRoom({ voip_carrier_sid, account_sid, is_pattern: 1 }, rows)
    return {
      number: asMatched(number),
      received_number: number,
      e164_number: e164Of(number),
      is_pattern: isPattern ? (1 as const) : (0 as const),
    }
  },
})

function e164Of(number: string): string | null {
  const bare = number.replaceAll(separators, '')
  return e164.test(bare) ? bare : null
}

/** Drops the plus, which is not stored, and which becomes a space in a query that does not encode it. */
function partOfNumber(): Field<string | null, 'optional', string | undefined> {
  const { facts } = partOf('number')
  return createField({ ...facts, fromText: (given) => given.replace(/^(\+| (?=\d))/, '') })
}

async function demandRoom(
  where: Pick<Row<'phone_numbers'>, 'voip_carrier_sid' | 'account_sid' | 'is_pattern'>,
  { phone_numbers }: Repositories,
): Promise<void> {
  if ((await phone_numbers.count({ where })) < maxPatterns) return
  throw new AppError(
    'quota_reached',
    `an account may have at most ${maxPatterns} patterns with one carrier`,
    {
      cure: 'Join patterns into one, such as 1555(100|200), or remove those that are not needed.',
    },
  )
}

export const phoneNumbersOfServiceProvider = phoneNumbers.listedAt({
  path: '/ServiceProviders/{ServiceProviderSid}/PhoneNumbers',
  operationId: 'listPhoneNumbersOfServiceProvider',
  where: ({ provider }) => ({ service_provider_sid: provider?.service_provider_sid }),
})
