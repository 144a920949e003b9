// A carrier as the platform sees it: records made by the REST API alone, and calls from an address of its own.
import type { Platform } from './platform-process.ts'
import type { Api } from './platform-api.ts'
import { startSipp, type Sipp, type SippOptions, type SippResult } from './sipp.ts'

export interface Carrier {
  readonly voip_carrier_sid: string
  readonly sip_gateway_sid: string
  readonly name: string
  /** The source address of its calls. */
  readonly address: string
}

let carriers = 0

/** Returns an address of the loopback network that no other carrier of this test file has. */
export function freshAddress(): string {
  carriers += 1
  return `127.${10 + Math.floor(carriers / 200)}.${carriers % 200}.1`
}

/** Creates a carrier with one gateway. `fields` are the carrier's, at least its owner; `gateway` are the gateway's. */
export async function provisionCarrier(
  api: Api,
  fields: Readonly<Record<string, unknown>>,
  gateway: Readonly<Record<string, unknown>> = {},
): Promise<Carrier> {
  const address = freshAddress()
  const name = `Carrier ${carriers}`
  const { sid: voip_carrier_sid } = await api.must<{ sid: string }>('POST', '/VoipCarriers', {
    name,
    ...fields,
  })
  const { sid: sip_gateway_sid } = await api.must<{ sid: string }>('POST', '/SipGateways', {
    voip_carrier_sid,
    ipv4: address,
    inbound: true,
    ...gateway,
  })
  return { voip_carrier_sid, sip_gateway_sid, name, address }
}

export interface CarrierCallOptions extends Partial<SippOptions> {
  /** The Request-URI without its scheme; by default the number at the platform's address. */
  readonly target?: never
  readonly uri?: string
}

/** Starts a call to the number from the carrier's address. */
export function startCarrierCall(
  { sip }: Pick<Platform, 'sip'>,
  { address }: Pick<Carrier, 'address'>,
  number: string,
  { uri, values, ...options }: CarrierCallOptions = {},
): Promise<Sipp> {
  const target = uri ?? `${number}@${sip.address}:${sip.port}`
  return startSipp({
    scenario: 'carrier-call',
    target: sip,
    source: address,
    timeoutSeconds: 25,
    ...options,
    // Port 9, the discard service of RFC 863: the audio is not listened to.
    values: {
      target,
      realm: address,
      username: 'carrier',
      caller: '+4420555100',
      callerName: '',
      header: '',
      mediaPort: 9,
      ...values,
    },
  })
}

export async function callFromCarrier(...call: Parameters<typeof startCarrierCall>): Promise<SippResult> {
  const sipp = await startCarrierCall(...call)
  return await sipp.finished
}

/** Places a call that must be refused with the status, and returns the refusal. */
export async function refusedCall(
  platform: Pick<Platform, 'sip'>,
  carrier: Pick<Carrier, 'address'>,
  number: string,
  status: number,
  { values, ...options }: CarrierCallOptions = {},
): Promise<{ readonly start: string; readonly text: string; readonly result: SippResult }> {
  const result = await callFromCarrier(platform, carrier, number, {
    scenario: 'call-unauthenticated',
    ...options,
    values: { status, ...values },
  })
  const last = result.messages.findLast(({ direction }) => direction === 'received')
  if (result.code !== 0 || last === undefined) throw new Error(result.report)
  return { start: last.start, text: last.text, result }
}
