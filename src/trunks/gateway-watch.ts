// The watch over gateways: sends OPTIONS to those that want it, and rests those that were silent to a call.
import type { Clock, Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { contactAt } from '../sip/contact.ts'
import { serializeHostPort } from '../sip/message/uri.ts'
import { afterPing, isAnswer, pingDelayMs, unknownHealth, type GatewayHealth } from './gateway-health.ts'
import { hopOf, isSips, placeOf, reach, uriOf } from './gateway-uri.ts'
import type { RegisteringSip } from './register.ts'
import type { GatewaySign, Ping, Trunk, TrunkGateway, WatchedGateway } from './trunks.ts'

export interface GatewayWatchOptions {
  readonly sip: RegisteringSip
  readonly clock: Clock
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly log: Logger
  /** Throws AppError if no certificate of the platform has the name by which a gateway knows it. */
  readonly demandName?: ((name: string) => void) | undefined
  readonly turned: (trunk: Trunk, gateway: TrunkGateway, ping: Ping) => void
}

interface Watched {
  trunk: Trunk
  gateway: TrunkGateway
  health: GatewayHealth
  last: Ping | undefined
  /** Undefined while its answer is awaited. */
  timer: Timer | undefined
}

// Long enough for three retransmissions over UDP.
const pingMs = 4_000
// Gateways that are watched from the start are spread over this time.
const spreadMs = 5_000
// Long enough for a busy minute's callers, short enough for a gateway that is not pinged.
const silentRestMs = 30_000
const maxRestMs = 300_000
const maxResting = 10_000

export class GatewayWatch {
  readonly #options: GatewayWatchOptions
  readonly #watched = new Map<string, Watched>()
  /** The end of each gateway's rest, by the monotonic clock. */
  readonly #resting = new Map<string, number>()
  #isStopped = false

  constructor(options: GatewayWatchOptions) {
    this.#options = options
  }

  follow(trunks: readonly Trunk[]): void {
    if (this.#isStopped) return
    const wanted = new Map<string, { trunk: Trunk; gateway: TrunkGateway }>()
    for (const trunk of trunks)
      for (const gateway of trunk.gateways)
        if (gateway.isWatched) wanted.set(gateway.sip_gateway_sid, { trunk, gateway })
    for (const [sid, { gateway, timer }] of this.#watched) {
      const next = wanted.get(sid)
      if (next !== undefined && JSON.stringify(next.gateway) === JSON.stringify(gateway)) continue
      timer?.cancel()
      this.#watched.delete(sid)
    }
    for (const [sid, next] of wanted) {
      const present = this.#watched.get(sid)
      if (present === undefined) this.#begin(sid, next)
      else present.trunk = next.trunk
    }
  }

  stop(): void {
    this.#isStopped = true
    for (const { timer } of this.#watched.values()) timer?.cancel()
    this.#watched.clear()
  }

  isUp(sip_gateway_sid: string): boolean {
    if (this.#watched.get(sip_gateway_sid)?.health.condition === 'down') return false
    const until = this.#resting.get(sip_gateway_sid)
    if (until === undefined) return true
    if (until > this.#options.clock.monotonic()) return false
    this.#resting.delete(sip_gateway_sid)
    return true
  }

  /** Notes the result of a call. */
  noted(sip_gateway_sid: string, sign: GatewaySign): void {
    const watched = this.#watched.get(sip_gateway_sid)
    this.#resting.delete(sip_gateway_sid)
    if (sign.kind === 'alive') return
    const restMs = sign.kind === 'silent' ? silentRestMs : Math.min(sign.retryAfterSeconds * 1000, maxRestMs)
    this.#resting.set(sip_gateway_sid, this.#options.clock.monotonic() + restMs)
    if (this.#resting.size > maxResting) {
      const [oldest] = this.#resting.keys()
      if (oldest !== undefined) this.#resting.delete(oldest)
    }
    // Several calls at the same time are one sign: an OPTIONS for each would count as misses in a row.
    if (sign.kind === 'silent' && watched?.timer !== undefined) this.#after(watched, 0)
  }

  of(sip_gateway_sid: string): WatchedGateway | undefined {
    const watched = this.#watched.get(sip_gateway_sid)
    return watched && { condition: watched.health.condition, last: watched.last }
  }

  /** Never rejects. */
  async ping(gateway: TrunkGateway): Promise<Ping> {
    const { sip, clock } = this.#options
    const at = clock.now()
    try {
      const { ourName } = gateway
      if (ourName !== undefined) this.#options.demandName?.(ourName)
      const destination = await reach(hopOf(gateway), sip, ourName)
      const local = { ...sip.addressFor(destination), ...(ourName === undefined ? {} : { host: ourName }) }
      const scheme = isSips(gateway) ? 'sips' : 'sip'
      const { response, isSilent, delayMs } = await sip.request({
        method: 'OPTIONS',
        uri: ourName === undefined ? uriOf(gateway) : hopOf(gateway),
        from: `${scheme}:${serializeHostPort({ host: local.host })}`,
        to: `${scheme}:${serializeHostPort({ host: gateway.host })}`,
        headers: [
          { name: 'contact', value: contactAt(local, destination.transport, { isSips: isSips(gateway) }) },
          { name: 'accept', value: 'application/sdp' },
        ],
        destination,
        limitMs: pingMs,
      })
      const { status, reason } = response
      const isAnswered = isAnswer({ isSilent, status })
      if (isSilent) return { at, isAnswered, reason: `no response from ${placeOf(gateway)}` }
      return { at, isAnswered, reason: `${status} ${reason}`, status, delayMs: Math.round(delayMs) }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { at, isAnswered: false, reason: `${placeOf(gateway)} cannot be reached: ${error.message}` }
    }
  }

  #begin(sid: string, { trunk, gateway }: { trunk: Trunk; gateway: TrunkGateway }): void {
    const watched: Watched = { trunk, gateway, health: unknownHealth, last: undefined, timer: undefined }
    this.#watched.set(sid, watched)
    this.#after(watched, this.#options.random() * spreadMs)
  }

  #after(watched: Watched, delayMs: number): void {
    watched.timer?.cancel()
    watched.timer = this.#options.clock.after(delayMs, () => void this.#check(watched))
  }

  async #check(watched: Watched): Promise<void> {
    const { random, log, turned } = this.#options
    const { gateway } = watched
    const sid = gateway.sip_gateway_sid
    watched.timer = undefined
    try {
      const ping = await this.ping(gateway)
      if (this.#isStopped || this.#watched.get(sid) !== watched) return
      const before = watched.health.condition
      watched.last = ping
      watched.health = afterPing(watched.health, ping.isAnswered)
      const { condition } = watched.health
      if (ping.isAnswered) this.#resting.delete(sid)
      if (condition !== before && (condition === 'down' || before === 'down')) {
        log.info({ gateway: sid, condition, reason: ping.reason }, 'the condition of a gateway has changed')
        turned(watched.trunk, gateway, ping)
      }
    } catch (error) {
      // An internal error for one gateway must not end its watch.
      log.error({ err: error, gateway: sid }, 'a gateway could not be asked')
    }
    if (!this.#isStopped && this.#watched.get(sid) === watched)
      this.#after(watched, pingDelayMs(watched.health, random()))
  }
}
