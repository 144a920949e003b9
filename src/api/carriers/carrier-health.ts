// The health of a carrier: whether the platform is registered there, and which of its gateways accept calls.
import { AppError } from '../../lib/errors.ts'
import type { Row } from '../../storage/storage.ts'
import { boolean, choice } from '../define/fields.ts'
import { list, object, whole, word, wordOrNull } from '../define/reply-fields.ts'
import type { RecordContext } from '../define/request.ts'
import { defineRoute, everyone } from '../define/route.ts'
import type { ApiRoute } from '../define/route.ts'
import type { Services } from '../services.ts'

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
    'up: all is well. degraded: the registration failed, or a gateway is down and another one is not. down: no gateway takes calls, or the carrier is switched off. unknown: nothing is watched, and nothing failed.',
  ),
  reason: wordOrNull('What is wrong, in a sentence; null when nothing is.'),
  registration: object({
    is_required: boolean().describe('The platform registers with the carrier.'),
    status: wordOrNull('`ok` or `fail`; null before the first REGISTER.'),
    reason: wordOrNull('The response of the registrar.'),
  }).describe('The registration with the carrier, as its `register_status` shows it.'),
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
  async handle({ params: { VoipCarrierSid }, rows, services }) {
    const carrier = await carrierAt(VoipCarrierSid, { rows })
    const gateways = (await gatewaysOf(carrier, { rows })).map((row) => toGateway(row, services))
    const registration = registrationOf(carrier)
    return { ...summed(carrier, registration, gateways), registration, gateways }
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
}

/** Returns the state in the row, whichever node registers. */
export function registrationOf({
  requires_register,
  register_status,
}: Row<'voip_carriers'>): RegistrationState {
  const { status = null, reason = null } = (
    register_status === null ? {} : JSON.parse(register_status)
  ) as Partial<Record<'status' | 'reason', string>>
  return { is_required: requires_register === 1, status, reason }
}

function summed(
  { is_active }: Row<'voip_carriers'>,
  { is_required, status, reason }: RegistrationState,
  gateways: readonly GatewayState[],
): { readonly condition: 'up' | 'degraded' | 'down' | 'unknown'; readonly reason: string | null } {
  if (is_active !== 1) return { condition: 'down', reason: 'the carrier is switched off: is_active is 0' }
  if (gateways.length === 0)
    return { condition: 'down', reason: 'no active gateway takes calls: set outbound' }
  const unwell = gateways.filter(({ condition }) => condition === 'down' || condition === 'resting')
  const places = unwell.map(({ ipv4 }) => ipv4).join(', ')
  if (unwell.length === gateways.length) return { condition: 'down', reason: `no gateway answers: ${places}` }
  if (is_required && status === 'fail')
    return { condition: 'degraded', reason: `the registration failed: ${reason ?? 'no reason is known'}` }
  if (unwell.length > 0) return { condition: 'degraded', reason: `some gateways do not answer: ${places}` }
  const isKnown = gateways.some(({ condition }) => condition === 'up') || (is_required && status === 'ok')
  return { condition: isKnown ? 'up' : 'unknown', reason: null }
}
