// The composition root: starts every part in order, stops them in reverse.
import type { Config } from './config/config.ts'
import { sleep } from './lib/clock.ts'
import { startAll, stopAll, type Part } from './lib/lifecycle.ts'
import type { LeveledLogger } from './lib/log.ts'
import { createAdministration, type Administration } from './parts/administration.ts'
import { apiUrlOf, createBase, placesForOthers, shownPlace, type Base } from './parts/base.ts'
import { createSound, type Sound } from './parts/sound.ts'
import { createTelephony, type Telephony } from './parts/telephony.ts'
import { firstBoot, type FirstBootOptions } from './storage/first-boot.ts'

export interface App {
  /**
   * Resolves when all parts are up. `showSecrets` gets those of a first boot, once. Rejects with the reason of
   * `signal`, with all parts stopped.
   */
  start(showSecrets: FirstBootOptions['show'], signal: AbortSignal): Promise<void>
  /**
   * Stops a running app. `drain` waits for calls until the deadline of the settings; `now` hangs them up. May be called
   * again.
   */
  stop(mode: 'drain' | 'now'): Promise<void>
  /** Set after start. */
  readonly apiUrl: string
  /** The URL of the reference, for a browser. */
  readonly docsUrl: string
  readonly sipUri: string
  /** The SIP URIs for phones of other machines; none if only this machine is served. */
  readonly sipUrisForOthers: readonly string[]
  /** Undefined if HTTPS is not served. */
  readonly httpsPort: number | undefined
  /** The ports of the other SIP transports that are served, by transport. */
  readonly sipPorts: Readonly<Record<string, number>>
}

export function createApp(config: Config, log: LeveledLogger): App {
  let isReady = false
  let hasStarted = false
  const base = createBase(config, log)
  const sound = createSound(base)
  const telephony = createTelephony(base, sound, () => (isReady ? apiUrl() : undefined))
  const administration = createAdministration(base, sound, telephony, {
    isReady: () => isReady,
    unready: () => (hasStarted ? 'stopping' : 'starting'),
  })
  const parts = inOrder(base, sound, telephony, administration)
  const { sip, calls, trunks } = telephony
  const apiUrl = (): string => apiUrlOf(config, administration.http)
  let stopping: Promise<void> | undefined

  return {
    async start(show, signal) {
      const { adminPassword, adminApiKey, accountApiKey } = config
      const boot: Part = {
        name: 'first boot',
        start: () => firstBoot(base.storage, { adminPassword, adminApiKey, accountApiKey, show }),
        stop: () => Promise.resolve(),
      }
      // Comes last: a start that fails must not leave a platform that is set up, with secrets that it never showed.
      await startAll([...parts, boot], { log, signal })
      telephony.webSockets.listens(portsOf(administration))
      isReady = true
      hasStarted = true
    },
    async stop(mode) {
      isReady = false
      sip.drain()
      // Unregisters first: carriers must not send calls that would be refused.
      await trunks.stop()
      if (mode === 'drain') await Promise.race([calls.drain(), sleep(config.drainSeconds * 1000, base.clock)])
      await calls.hangUpAll('the platform is stopping')
      stopping ??= stopAll(parts, log)
      await stopping
    },
    get apiUrl() {
      return apiUrl()
    },
    get docsUrl() {
      return new URL('/docs', apiUrl()).href
    },
    get sipUri() {
      return `sip:${shownPlace(config, sip.listening.port)}`
    },
    get sipUrisForOthers() {
      return placesForOthers(config, sip.listening.port).map((place) => `sip:${place}`)
    },
    get httpsPort() {
      return administration.http.securePort
    },
    get sipPorts() {
      // WebSockets in clear use the port of the API.
      const { ws: _ws, ...ports } = sip.listening.ports ?? {}
      return ports
    },
  }
}

/** Returns the ports of WebSockets for far ends. */
function portsOf({ http }: Administration): { readonly ws: number; readonly wss?: number } {
  const { address, securePort: wss } = http
  return { ws: address.port, ...(wss === undefined ? {} : { wss }) }
}

/** Returns each part behind those that it needs; they stop in reverse. */
function inOrder(base: Base, sound: Sound, telephony: Telephony, rest: Administration): readonly Part[] {
  const { storage, names, outgoing, certificates } = base
  const resolver: Part = { name: 'names', start: () => Promise.resolve(), stop: async () => names.close() }
  const client: Part = { name: 'outgoing', start: () => Promise.resolve(), stop: () => outgoing.close() }
  return [
    storage,
    rest.logLevel,
    rest.mail,
    resolver,
    client,
    // Stops after calls and recordings, which report last facts.
    telephony.delivery,
    ...(certificates === undefined ? [] : [certificates]),
    sound.decoder,
    sound.audio,
    sound.speech,
    sound.streams,
    sound.media,
    sound.recordings,
    telephony.shaken,
    telephony.sip,
    telephony.calls,
    telephony.trunks,
    rest.retention,
    rest.passwords,
    rest.http,
    // A link may begin with the address that the server listens at.
    rest.resets,
    // The authority sends requests to the server.
    ...(rest.acme === undefined ? [] : [rest.acme]),
  ]
}
