// The health of a carrier: whether the platform is registered there, and which of its gateways accept calls.
import { AppError } from '../../lib/errors.ts'
import type { CallFailure } from '../../contracts/call-record.ts'
import type { Caller } from '../../contracts/caller.ts'
import type { Row } from '../../storage/storage.ts'
import { boolean, choice } from '../define/fields.ts'
import { list, object, whole, word, wordOrNull } from '../define/reply-fields.ts'
import type { RecordContext } from '../define/request.ts'
import { defineRoute, everyone, type ApiRoute } from '../define/route.ts'
import type { Services } from '../services.ts'
import type { RegistrationCause, RegisterStatus } from '../../contracts/carrier-registration.ts'

const gateway = object({
  sip_gateway_sid: word('The gateway.'),
  ipv4: word('Its address or name.'),
  is_watched: boolean().describe('OPTIONS is sent to it: `send_options_ping`.'),
  condition: choice(['up', 'down', 'resting', 'unknown']).describe(
    'down: it missed two OPTIONS in a row. resting: it did not respond to a call, or asked for a pause. unknown: no request was sent to it.',
  ),
  checked_at: whole('When OPTIONS was sent last, in epoch milliseconds.').optional(),
  reason: word('Its response to that, or that there was none.').optional(),
  delay_ms: whole('How long it took to respond.').optional(),
})

const health = object({
  condition: choice(['up', 'degraded', 'down', 'unknown']).describe(
    'up: all is well. degraded: the registration failed, the last call had no sound in one direction, or a gateway is down and another one is not. down: no gateway takes calls, or the carrier is switched off. unknown: nothing is watched, and nothing failed.',
  ),
  reason: wordOrNull('What is wrong, in a sentence; null when nothing is.'),
  registration: object({
    is_required: boolean().describe('The platform registers with the carrier.'),
    status: wordOrNull('`ok` or `fail`; null before the first REGISTER.'),
    reason: wordOrNull('The response of the registrar.'),
    cause: wordOrNull(
      '`no_registrar`, `unreachable`, `silent`, `unavailable` or `refused`; null unless it failed.',
    ),
  }).describe('The registration with the carrier, as its `register_status` shows it.'),
  media: object({
    call_sid: word('The call.'),
    at: whole('When it ended, in epoch milliseconds.'),
    code: word('`no_media_received` or `no_media_delivered`.'),
    sentence: word('What is missing, with the places of both sides.'),
    cure: word('What to change.'),
  })
    .describe(
      'The last answered call of three seconds or more over this carrier, if it had no sound in one direction; left out if it had.',
    )
    .optional(),
  gateways: list(gateway).describe('The gateways that calls are sent to, as this node sees them.'),
})

export const readHealth: ApiRoute = defineRoute({
  method: 'GET',
  path: '/VoipCarriers/{VoipCarrierSid}/Health',
  access: everyone,
  operationId: 'readVoipCarrierHealth',
  tag: 'VoipCarriers',
  summary: 'The health of a carrier: its registration and its gateways, and what is wrong.',
  parameters: { VoipCarrierSid: 'The carrier.' },
  reply: {
    status: 200,
    description: 'The carrier, as it is now.',
    component: 'VoipCarrierHealth',
    body: health,
  },
  errors: ['not_found'],
  async handle({ params: { VoipCarrierSid }, rows, services, caller }) {
    const carrier = await carrierAt(VoipCarrierSid, { rows })
    const gateways = (await gatewaysOf(carrier, { rows })).map((row) => toGateway(row, services))
    const registration = registrationOf(carrier)
    const media = await missingMedia(carrier, { caller, services })
    return {
      ...summed(carrier, { registration, gateways, media }),
      registration,
      ...(media === undefined ? {} : { media }),
      gateways,
    }
  },
})

export async function carrierAt(
  voip_carrier_sid: string,
  { rows }: Pick<RecordContext, 'rows'>,
): Promise<Row<'voip_carriers'>> {
  const carrier = await rows.voip_carriers.find(voip_carrier_sid)
  if (carrier === undefined) throw new AppError('not_found', 'no such carrier')
  return carrier
}

/** Returns the gateways that calls are sent to. */
export function gatewaysOf(
  { voip_carrier_sid }: Row<'voip_carriers'>,
  { rows }: Pick<RecordContext, 'rows'>,
): Promise<Row<'sip_gateways'>[]> {
  const where = { voip_carrier_sid, outbound: 1, is_active: 1 } as const
  return rows.sip_gateways.list({ where, orderBy: ['created_at'], limit: 64 })
}

interface GatewayState {
  readonly sip_gateway_sid: string
  readonly ipv4: string
  readonly is_watched: boolean
  readonly condition: 'up' | 'down' | 'resting' | 'unknown'
}

function toGateway(row: Row<'sip_gateways'>, { trunks }: Pick<Services, 'trunks'>): GatewayState {
  const { sip_gateway_sid, ipv4 } = row
  const watched = trunks.watched(sip_gateway_sid)
  const asked = watched?.condition ?? 'unknown'
  const isResting = asked !== 'down' && !trunks.isUp(sip_gateway_sid)
  const last = watched?.last
  return {
    sip_gateway_sid,
    ipv4,
    is_watched: row.send_options_ping === 1,
    condition: isResting ? 'resting' : asked,
    ...(last === undefined ? {} : { checked_at: last.at, reason: last.reason }),
    ...(last?.delayMs === undefined ? {} : { delay_ms: last.delayMs }),
  }
}

interface RegistrationState {
  readonly is_required: boolean
  readonly status: string | null
  readonly reason: string | null
  readonly cause: RegistrationCause | null
}

/** Returns the state in the row, whichever node registers. */
export function registrationOf({
  requires_register,
  register_status,
}: Row<'voip_carriers'>): RegistrationState {
  const {
    status = null,
    reason = null,
    cause = null,
  } = (register_status === null ? {} : JSON.parse(register_status)) as Partial<RegisterStatus>
  return { is_required: requires_register === 1, status, reason, cause }
}

interface MissingMedia extends CallFailure {
  readonly call_sid: string
  readonly at: number
}

// Shorter calls may have ended before it was known whether sound comes.
const leastSeconds = 3
const maxCalls = 20

/** Returns the sound that the last call over the carrier lacked, of the calls that the caller may read. */
async function missingMedia(
  { name, account_sid, service_provider_sid }: Row<'voip_carriers'>,
  {
    caller: { tenancy },
    services,
  }: { readonly caller: Pick<Caller, 'tenancy'>; readonly services: Services },
): Promise<MissingMedia | undefined> {
  const { recentCalls } = services.storage
  const query = { page: 1, count: maxCalls, trunk: name, answered: true }
  const account = account_sid ?? (tenancy.level === 'account' ? tenancy.account_sid : undefined)
  const { rows } =
    account === undefined
      ? await recentCalls.pageOfProvider(tenancy, service_provider_sid ?? '', query)
      : await recentCalls.page(tenancy, account, query)
  const last = rows.find(({ duration }) => duration >= leastSeconds)
  if (last === undefined || last.media_failure === null) return undefined
  const failure = JSON.parse(last.media_failure) as CallFailure
  return { call_sid: last.call_sid, at: last.terminated_at, ...failure }
}

interface Found {
  readonly registration: RegistrationState
  readonly gateways: readonly GatewayState[]
  readonly media: MissingMedia | undefined
}

function summed(
  { is_active }: Row<'voip_carriers'>,
  { registration: { is_required, status, reason }, gateways, media }: Found,
): { readonly condition: 'up' | 'degraded' | 'down' | 'unknown'; readonly reason: string | null } {
  if (is_active !== 1) return { condition: 'down', reason: 'the carrier is switched off: is_active is 0' }
  if (gateways.length === 0)
    return { condition: 'down', reason: 'no active gateway takes calls: set outbound' }
  const unwell = gateways.filter(({ condition }) => condition === 'down' || condition === 'resting')
  const places = unwell.map(({ ipv4 }) => ipv4).join(', ')
  if (unwell.length === gateways.length) return { condition: 'down', reason: `no gateway answers: ${places}` }
  if (is_required && status === 'fail')
    return { condition: 'degraded', reason: `the registration failed: ${reason ?? 'no reason is known'}` }
  if (media !== undefined) return { condition: 'degraded', reason: `the last call: ${media.sentence}` }
  if (unwell.length > 0) return { condition: 'degraded', reason: `some gateways do not answer: ${places}` }
  const isKnown = gateways.some(({ condition }) => condition === 'up') || (is_required && status === 'ok')
  return { condition: isKnown ? 'up' : 'unknown', reason: null }
}
