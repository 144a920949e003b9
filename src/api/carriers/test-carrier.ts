// The test of a carrier that was just entered: its registration, its gateways, and a call that costs little.
import { noScript, type LiveCall } from '../../calls/calls.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import { sleep } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Row } from '../../storage/storage.ts'
import { toTrunkGateway } from '../../trunks/trunk-gateway.ts'
import { boolean, choice, sid, text } from '../define/fields.ts'
import { list, object, whole, word } from '../define/reply-fields.ts'
import type { ApiRequest } from '../define/request.ts'
import { defineRoute, everyone, type ApiRoute } from '../define/route.ts'
import { cureOf, registrationCureOf } from './carrier-cures.ts'
import { carrierAt, gatewaysOf, registrationOf } from './carrier-health.ts'
import type { JournalEvent } from '../../calls/journal.ts'

const stepFields = {
  step: choice(['registration', 'gateways', 'options', 'call', 'media']).describe('What was tried.'),
  target: word('The gateway or the number that was tried.').optional(),
  ok: boolean().describe('Whether it succeeded.'),
  reason: word('The result.'),
  cure: word('What to change, if it failed.').optional(),
  sip_status: whole('The status of the SIP response, if there was one.').optional(),
  delay_ms: whole('How long it took.').optional(),
  call_sid: word('The call; its journal has the details.').optional(),
}

const body = {
  to: text({ min: 1, max: 64 })
    .optional()
    .describe(
      'The number to call. It may ring, and is hung up when its sound has come, four seconds after the answer at the latest. Left out: no call is made.',
    )
    .example('+15551230100'),
  from: text({ min: 1, max: 64 })
    .optional()
    .describe(
      'The calling number; left out, a phone number that the account has with the carrier, or register_username.',
    ),
  account_sid: sid('accounts')
    .optional()
    .describe('The account that makes the call, if the carrier is shared and the caller is not an account.'),
}

export interface Step {
  readonly step: 'registration' | 'gateways' | 'options' | 'call' | 'media'
  readonly target?: string
  readonly ok: boolean
  readonly reason: string
  readonly cure?: string
  readonly sip_status?: number
  readonly delay_ms?: number
  readonly call_sid?: string
}

type TestRequest = Pick<ApiRequest, 'caller' | 'rows' | 'services' | 'whenGone'>

export const testCarrier: ApiRoute = defineRoute({
  method: 'POST',
  path: '/VoipCarriers/{VoipCarrierSid}/Test',
  access: everyone,
  operationId: 'testVoipCarrier',
  tag: 'VoipCarriers',
  summary: 'Tries a carrier: OPTIONS to each gateway, and a short call if a number is given.',
  description:
    'Responds when every step has been tried, within half a minute. Each step has its result, and what to change. A carrier can be tested at most six times in ten minutes.',
  parameters: { VoipCarrierSid: 'The carrier.' },
  body,
  reply: {
    status: 200,
    description: 'The result of each step.',
    component: 'VoipCarrierTest',
    body: object({
      ok: boolean().describe('Every step succeeded.'),
      steps: list(object(stepFields)).describe('In the order they were tried.'),
    }),
  },
  errors: ['not_found', 'too_many_requests', 'stopping', 'overloaded'],
  async handle({ params: { VoipCarrierSid }, body: { to, from, account_sid }, ...request }) {
    const carrier = await carrierAt(VoipCarrierSid, request)
    const { services } = request
    const payer =
      isGiven(to) || isGiven(account_sid)
        ? await payerOf(carrier, account_sid ?? undefined, request)
        : undefined
    const waitMs = services.trunks.takeTest(carrier.voip_carrier_sid)
    if (waitMs > 0)
      throw new AppError(
        'too_many_requests',
        `this carrier may be tested again in ${Math.ceil(waitMs / 1000)} s`,
      )
    const steps: Step[] = [...registrationStep(carrier), ...(await optionsSteps(carrier, request))]
    if (isGiven(to) && payer !== undefined && carrier.is_active === 1)
      steps.push(...(await callSteps(carrier, { to, from: from ?? undefined, account_sid: payer }, request)))
    return { ok: steps.every(({ ok }) => ok), steps }
  },
})

function isGiven(text: string | null | undefined): text is string {
  return text !== undefined && text !== null
}

/** Returns the account of the carrier, that of the caller, or the one that is named. */
async function payerOf(
  carrier: Row<'voip_carriers'>,
  named: string | undefined,
  { caller, rows }: TestRequest,
): Promise<string> {
  const { tenancy } = caller
  const own = tenancy.level === 'account' ? tenancy.account_sid : undefined
  const account_sid = named ?? carrier.account_sid ?? own
  if (account_sid === undefined)
    throw new AppError(
      'bad_request',
      'account_sid must say which account makes the call over a shared carrier',
    )
  const account = await rows.accounts.find(account_sid)
  const isServed = carrier.account_sid === null || carrier.account_sid === account_sid
  if (!isServed || account === undefined || account.service_provider_sid !== carrier.service_provider_sid)
    throw new AppError('bad_request', 'account_sid names no account that the carrier serves')
  return account_sid
}

function registrationStep(carrier: Row<'voip_carriers'>): readonly Step[] {
  const { is_required, status, reason, cause } = registrationOf(carrier)
  if (!is_required) return []
  if (status === null)
    return [
      { step: 'registration', ok: false, reason: 'no REGISTER was answered yet', cure: cureOf('early') },
    ]
  const ok = status === 'ok'
  const said = reason ?? status
  return [
    {
      step: 'registration',
      ok,
      reason: said,
      ...(ok ? {} : { cure: registrationCureOf(cause ?? 'refused') }),
    },
  ]
}

async function optionsSteps(carrier: Row<'voip_carriers'>, request: TestRequest): Promise<readonly Step[]> {
  if (carrier.is_active !== 1)
    return [{ step: 'gateways', ok: false, reason: 'the carrier is switched off', cure: cureOf('inactive') }]
  const rows = await gatewaysOf(carrier, request)
  const gateways = rows.flatMap((row) => toTrunkGateway(row) ?? [])
  if (gateways.length === 0)
    return [
      { step: 'gateways', ok: false, reason: 'no active gateway takes calls', cure: cureOf('no-gateway') },
    ]
  return Promise.all(
    gateways.map(async (gateway): Promise<Step> => {
      const { isAnswered: ok, reason, status, delayMs } = await request.services.trunks.ping(gateway)
      return {
        step: 'options',
        target: gateway.host,
        ok,
        reason,
        ...(ok ? {} : { cure: cureOf(status ?? 'silent') }),
        ...(status === undefined ? {} : { sip_status: status }),
        ...(delayMs === undefined ? {} : { delay_ms: delayMs }),
      }
    }),
  )
}

interface TestCall {
  readonly to: string
  readonly from: string | undefined
  readonly account_sid: string
}

const ringMs = 15_000
const lookEveryMs = 100
const maxLooks = 250

// Time for the first packet to come, and for the journal to say that it did not.
const listening = '[{"verb":"pause","length":4},{"verb":"hangup"}]'

async function callSteps(
  carrier: Row<'voip_carriers'>,
  { to, from, account_sid }: TestCall,
  { rows, services, whenGone }: TestRequest,
): Promise<readonly Step[]> {
  const { calls, clock } = services
  const { voip_carrier_sid } = carrier
  const where = { voip_carrier_sid, account_sid, is_pattern: 0 } as const
  const [number] = await rows.phone_numbers.list({ where, limit: 1 })
  const { call_sid, begin } = await calls.prepare({
    account_sid,
    runs: { script: { ...noScript(account_sid), app_json: listening } },
    to: { type: 'phone', number: to, voip_carrier_sid },
    from: from ?? number?.number ?? carrier.register_username ?? 'anonymous',
    headers: [],
    ringMs,
    notes: ['a test of the carrier'],
  })
  const beganAt = clock.monotonic()
  await begin()
  const gone = whenGone()
  let [hasRung, wasHeard] = [false, false]
  let call: LiveCall | undefined
  let media: readonly Step[] = []
  for (let looks = 0; looks < maxLooks && !gone.aborted; looks++) {
    call = calls.find(account_sid, call_sid)
    hasRung ||= call?.call_status === 'ringing' || call?.call_status === 'early-media'
    const journal = calls.journal(account_sid, call_sid) ?? []
    wasHeard ||= journal.some(isReceived)
    media = call?.sip_status !== 200 ? [] : mediaSteps(journal)
    if (call === undefined || isOver(call) || media.length > 0) break
    await sleep(lookEveryMs, clock, gone)
  }
  if (call !== undefined && !isOver(call)) await calls.hangUp(account_sid, call_sid)
  const called: Step = {
    ...(unsent(calls.journal(account_sid, call_sid), wasHeard) ??
      (isSilence(call, wasHeard) ? silence : judged(call, hasRung))),
    step: 'call',
    target: to,
    call_sid,
    delay_ms: Math.round(clock.monotonic() - beganAt),
  }
  return [called, ...media]
}

/** Returns what the journal of an answered call says about the sound of the far end; nothing while it is not known. */
function mediaSteps(journal: readonly StoredEvent[]): readonly Step[] {
  const heard = journal.find(({ type }) => type === 'media-first-packet')
  if (heard !== undefined)
    return [
      {
        step: 'media',
        ok: true,
        reason: `sound came from ${String(heard['address'])}:${String(heard['port'])}`,
      },
    ]
  const missing = journal.find(({ type, code }) => type === 'problem' && code === 'no_media_received')
  if (missing === undefined) return []
  return [{ step: 'media', ok: false, reason: String(missing['sentence']), cure: String(missing['cure']) }]
}

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'busy', 'no-answer', 'cancelled'])

function isOver({ call_status }: LiveCall): boolean {
  return ended.has(call_status)
}

function isReceived({ type, ...facts }: StoredEvent): boolean {
  return type === 'sip' && facts['direction'] === 'received'
}

/** Returns why the platform itself could not send the INVITE: then no carrier has responded. */
function unsent(
  journal: readonly JournalEvent[] | undefined,
  wasHeard: boolean,
): Pick<Step, 'ok' | 'reason' | 'cure'> | undefined {
  if (wasHeard) return undefined
  for (const event of journal ?? [])
    if (event.type === 'refusal' && event.code === 'sip_unreachable')
      return { ok: false, reason: event.sentence, cure: event.cure }
  return undefined
}

// The platform's own statuses, for a call that is given up and for silence.
const ownStatuses: ReadonlySet<number> = new Set([408, 487])

function isSilence(call: LiveCall | undefined, wasHeard: boolean): boolean {
  return call !== undefined && !wasHeard && ownStatuses.has(call.sip_status)
}

const silence: Pick<Step, 'ok' | 'reason' | 'cure'> = {
  ok: false,
  reason: 'no gateway has sent any response to INVITE',
  cure: cureOf('silent'),
}

// The called party responded, so the carrier has brought the call there.
const reached: ReadonlySet<number> = new Set([480, 486, 600, 603])

function judged(
  call: LiveCall | undefined,
  hasRung: boolean,
): Pick<Step, 'ok' | 'reason' | 'cure' | 'sip_status'> {
  if (call === undefined) return { ok: false, reason: 'the call is gone', cure: cureOf('silent') }
  const { call_status, sip_status, sip_reason } = call
  if (call_status === 'completed' || call_status === 'in-progress')
    return { ok: true, reason: 'the call was answered and hung up', sip_status }
  if (hasRung) return { ok: true, reason: 'the number rang', sip_status }
  const reason = `${sip_status} ${sip_reason}`
  if (reached.has(sip_status))
    return { ok: true, reason: `the called party was reached: ${reason}`, sip_status }
  return { ok: false, reason, cure: cureOf(sip_status), sip_status }
}
