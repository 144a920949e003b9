// The parts that all others depend on.
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { createCarrierHosts } from '../directory/carrier-hosts.ts'
import { createDirectory } from '../directory/create-directory.ts'
import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { systemClock } from '../lib/clock.ts'
import type { LeveledLogger } from '../lib/log.ts'
import { reachableNetworks } from '../network/address-guard.ts'
import { createNames } from '../network/create-names.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { serializeHostPort } from '../sip/message/uri.ts'
import { addressesForOthers } from '../network/local-address.ts'
import { createCertificatesOf } from './secure.ts'
import { createStorage } from '../storage/create-storage.ts'

export type Base = ReturnType<typeof createBase>

/** Creates the parts that all others use: rows, names of hosts, the HTTP client. */
export function createBase(config: Config, log: LeveledLogger) {
  const clock = systemClock
  const { dataDir, databaseUrl, secretKey, accountShare: sharePercent } = config
  const storage = createStorage({
    dataDir,
    databaseUrl,
    secretKey,
    reserveBytes: config.diskReserveMb * 1_000_000,
    clock,
    log,
  })
  const allow = reachableNetworks(config)
  const threadTime = new ThreadTime({ clock })
  const names = createNames({ servers: config.nameServers, clock })
  /** Returns the carriers whose registrars have the address. The trunks set it, and are made later. */
  const learnt: { at: (address: string) => readonly string[] } = { at: () => [] }
  return {
    config,
    log,
    clock,
    cacheDir: join(dataDir, 'cache'),
    sharePercent,
    threadTime,
    storage,
    directory: createDirectory({ storage, clock, registrarsAt: (address) => learnt.at(address) }),
    learnt,
    carrierHosts: createCarrierHosts({ storage, clock, log }),
    /** Networks that may be reached although they are not public. */
    allow,
    names,
    certificates: createCertificatesOf(config, { clock, log }),
    outgoing: createOutgoing({ allow, sharePercent, log, clock, threadTime, resolve: names.lookup }),
  }
}

/** Returns the place as it is in a URI. */
export function shownPlace({ publicAddress, bind }: Config, port: number): string {
  const host = publicAddress ?? (bind === '0.0.0.0' || bind === '::' ? '127.0.0.1' : bind)
  return serializeHostPort({ host, port })
}

/** Returns the addresses with a port at which other machines reach this one; none if only this machine is served. */
export function placesForOthers(config: Config, port: number): readonly string[] {
  return addressesForOthers(config).map((host) => serializeHostPort({ host, port }))
}

export function apiUrlOf(config: Config, http: { readonly address: { readonly port: number } }): string {
  return `http://${shownPlace(config, http.address.port)}/v1`
}
