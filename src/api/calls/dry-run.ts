// The dry run: the outcome of a call, without making it.
import { isIP, isIPv4 } from 'node:net'
import type { DryQuestion, DryRun } from '../../calls/calls.ts'
import { AppError } from '../../lib/errors.ts'
import type { Row } from '../../storage/storage.ts'
import { choice, text } from '../define/fields.ts'
import { list, object, whole, word } from '../define/reply-fields.ts'
import type { Values } from '../define/field.ts'
import type { ApiRequest } from '../define/request.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { sipWord } from '../define/sip-fields.ts'
import { targetOrText, toTarget, type TargetInput } from './target.ts'

const body = {
  direction: choice(['inbound', 'outbound']).describe(
    'inbound: a carrier or a phone calls the platform. outbound: the platform calls.',
  ),
  from: sipWord({ max: 255 })
    .describe(
      'The caller: a number, or the user name of a phone of the account. Inbound, with @ and a host if From names another host than usual.',
    )
    .example('+15551230100'),
  to: targetOrText()
    .describe(
      'The called party. Inbound: as the caller dials it, `15550100` or `15550100@sip.example.com`. Outbound: a target as `createCall` takes it, or as text a number, `user@realm` of the account, a SIP URI, or `teams:` and a number, with `@` and the `tenant_fqdn` if the account has several tenants.',
    )
    .example('+15550123'),
  source_address: text({ min: 1, max: 64 })
    .optional()
    .describe(
      'Inbound: the IP address that the call comes from. Without it and `trunk`, a phone of the account calls.',
    )
    .example('203.0.113.10'),
  trunk: text({ min: 1, max: 64 })
    .optional()
    .describe(
      'The name of a carrier. Inbound: the carrier that calls, from the address of its first gateway. Outbound: the carrier that the target names.',
    ),
}

const decision = object({
  rule: word('The name of the rule.'),
  sentence: word('What the rule found.'),
  outcome: word('What was chosen.'),
  code: word('The code of the refusal, if it refuses.').optional(),
  link: word('Its row in the reference.'),
})

const attempt = object({
  round: whole('From 1; those of one round ring together.'),
  trunk: word('The carrier; `user`, `sipUri` or `Microsoft Teams` where there is none.'),
  place: word('The gateway, or where the phone is.'),
  request_uri: word('What the INVITE would call.'),
})

const refusal = object({
  code: word('The code of the catalogue of errors.'),
  sentence: word('The reason.'),
  cure: word('What to change.'),
  sip_status: whole('The status that the caller would receive, or the record would have.'),
})

export const createDryRun = defineRoute({
  method: 'POST',
  path: '/Accounts/{AccountSid}/DryRuns',
  access: everyone,
  openToViewOnly: true,
  operationId: 'createDryRun',
  tag: 'Calls',
  summary: 'The outcome that a call would have now, and why.',
  description:
    'The result comes from the code that decides real calls, as this node sees them now. No packet is sent, no name is looked up, no hook is called, and nothing counts towards a limit. If a carrier is chosen at random, each dry run chooses for itself.',
  body,
  reply: {
    status: 200,
    description: 'The outcome.',
    component: 'DryRun',
    body: object({
      outcome: choice([
        'refused',
        'elsewhere',
        'application',
        'user',
        'queue',
        'conference',
        'attempts',
      ]).describe(
        'elsewhere: the call does not belong to this account. attempts: the places below are tried.',
      ),
      refusal: refusal.describe('Only if the call is refused.').optional(),
      application_sid: word('The application that takes it.').optional(),
      name: word('The user, queue or conference that it reaches.').optional(),
      decisions: list(decision).describe('In the order in which they are made.'),
      attempts: list(attempt).describe('The places, in the order in which they are tried.'),
      assumptions: list(word('A sentence.')).describe('Facts that a dry run cannot check, and assumes.'),
    }),
  },
  errors: ['not_found'],
  async handle({ account, body: asked, rows, services }) {
    const question = await toQuestion(asked, { account, rows })
    return shown(await services.calls.dryRun(account.account_sid, question))
  },
})

type Asked = Values<typeof body>

interface AskedOf extends Pick<ApiRequest, 'rows'> {
  readonly account: Row<'accounts'>
}

async function toQuestion({ direction, from, to, ...asked }: Asked, context: AskedOf): Promise<DryQuestion> {
  const trunk = asked.trunk ?? undefined
  const sourceAddress = asked.source_address ?? undefined
  if (direction === 'outbound') {
    if (sourceAddress !== undefined)
      throw new AppError('bad_request', 'source_address is for calls of direction inbound')
    const { sip_realm: realm } = context.account
    const target = typeof to === 'string' ? targetOf(to) : to
    const fromHost = target.from?.host
    return {
      direction,
      from,
      to: toTarget(target, { realm, trunk }),
      ...(fromHost === undefined ? {} : { fromHost }),
    }
  }
  if (sourceAddress !== undefined && isIP(sourceAddress) === 0)
    throw new AppError('bad_request', 'source_address must be an IP address')
  if (typeof to !== 'string')
    throw new AppError('bad_request', 'to must be text with direction inbound: what the caller dials')
  const address = sourceAddress ?? (trunk === undefined ? undefined : await addressOf(trunk, context))
  return { direction, from, to, sourceAddress: address }
}

function targetOf(to: string): TargetInput {
  const [isTeams, number = '', tenant] = /^teams:([^@]*)(?:@(.*))?$/i.exec(to) ?? []
  if (isTeams !== undefined) return { type: 'teams', number, ...(tenant === undefined ? {} : { tenant }) }
  if (/^sips?:/i.test(to)) return { type: 'sip', sipUri: to }
  return to.includes('@') ? { type: 'user', name: to } : { type: 'phone', number: to }
}

async function addressOf(
  name: string,
  { account: { account_sid, service_provider_sid }, rows }: AskedOf,
): Promise<string> {
  const [own] = await rows.voip_carriers.list({ where: { name, account_sid }, limit: 1 })
  const shared = { name, service_provider_sid, account_sid: null }
  const [carrier] = own === undefined ? await rows.voip_carriers.list({ where: shared, limit: 1 }) : [own]
  if (carrier === undefined) throw new AppError('bad_request', 'trunk names no carrier of the account')
  const { voip_carrier_sid } = carrier
  const gateways = await rows.sip_gateways.list({
    where: { voip_carrier_sid, inbound: 1, is_active: 1 },
    orderBy: ['created_at'],
    limit: 64,
  })
  const address = gateways.map(({ ipv4 }) => ipv4).find(isIPv4)
  if (address === undefined)
    throw new AppError('bad_request', 'the carrier has no gateway with an address that calls come from', {
      cure: 'Name the address in source_address.',
    })
  return address
}

function shown({ decisions, refusal: refused, ...found }: DryRun) {
  return {
    ...found,
    decisions: decisions.map(({ rule, sentence, outcome, code }) => ({
      rule,
      sentence,
      outcome,
      ...(code === undefined ? {} : { code }),
      link: `docs/reference/routing.md#${rule}`,
    })),
    ...(refused === undefined ? {} : { refusal: pick(refused) }),
  }
}

function pick({ code, sentence, cure, sip_status }: NonNullable<DryRun['refusal']>) {
  return { code, sentence, cure, sip_status }
}
