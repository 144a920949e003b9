// The setup doctor, assembled from the settings with the same parts that the platform uses.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBuckets } from '../buckets/create-buckets.ts'
import type { Config } from '../config/config.ts'
import { warningOn } from '../data-directory.ts'
import { createRealmFacts } from '../directory/realm-facts.ts'
import { createUpdateClient } from '../dns/create-update-client.ts'
import { createAcmeDomainsCheck } from '../doctor/acme-domains.ts'
import { createAccountNames } from '../doctor/certificate-names.ts'
import { createCertificatesCheck } from '../doctor/certificates.ts'
import { createPlatformCheck } from '../doctor/check-platform.ts'
import { createClockCheck, notingDates, type ClockSample } from '../doctor/clock.ts'
import { createBucketsCheck, createSpeechCheck } from '../doctor/credentials.ts'
import { createDatabaseCheck, type Rows } from '../doctor/database.ts'
import { createDiskCheck } from '../doctor/disk.ts'
import { examine, ok, type Check, type Result } from '../doctor/doctor.ts'
import { createConfinementCheck } from '../doctor/confinement.ts'
import { createFileLimitsCheck } from '../doctor/file-limits.ts'
import { createPasswordsCheck } from '../doctor/passwords.ts'
import { createPortsCheck } from '../doctor/ports.ts'
import { createPublicAddressCheck } from '../doctor/public-address.ts'
import { createRealmsCheck } from '../doctor/realms.ts'
import { createSoundCheck } from '../doctor/sound.ts'
import { findPlatform, type RunningPlatform } from '../doctor/running-platform.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { once } from '../lib/once.ts'
import { StartError } from '../lib/start-error.ts'
import { portPairs } from '../media/transport/ports.ts'
import { reachableNetworks } from '../network/address-guard.ts'
import { createLocalAddress } from '../network/local-address.ts'
import { createNames } from '../network/create-names.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { certificateFilesOf, ownCertificateOf, tlsNameOf } from './secure.ts'
import { createSpeech } from '../speech/create-speech.ts'
import { ShakenFiles } from '../shaken/shaken-files.ts'
import { lookAtStorage } from '../storage/look.ts'

export interface DoctorOptions {
  readonly isOffline: boolean
  /** The names of the settings that the documentation shows the values of. */
  readonly publishedSettings: readonly string[]
}

// A check waits for a vendor first, and then needs some time itself.
const vendorLimitMs = 8000
const limitMs = 10_000

/** Returns the findings of every check. It leaves nothing behind. */
export async function runDoctor(config: Config, options: DoctorOptions): Promise<readonly Result[]> {
  const { dataDir, databaseUrl, secretKey } = config
  const names = createNames({ servers: config.nameServers, clock })
  const rows = once(() => lookAtStorage({ dataDir, databaseUrl, secretKey, clock, log }))
  const platform = once(() => findPlatform(config))
  const vendors = await openVendors(config, { rows, names, ...options })
  try {
    const machine = checksOfMachine(config, { rows, platform, ...options })
    const realms = createRealmsCheck({ rows, names, ...realmMeans(config, { rows, names }) })
    const { checks, samples } = vendors
    const last = createClockCheck({ rows, samples, clock })
    const acme = acmeChecks(config, { names, platform })
    return await examine([...machine, ...shakenChecks(config), ...acme, realms, ...checks, last], {
      clock,
      limitMs,
    })
  } finally {
    names.close()
    await vendors.close()
    await rows()
      .then((look) => look?.close())
      .catch(() => undefined)
  }
}

interface Means {
  readonly rows: Rows
  readonly platform: () => Promise<RunningPlatform>
  readonly names: ReturnType<typeof createNames>
}

function checksOfMachine(
  config: Config,
  {
    rows,
    platform,
    publishedSettings,
  }: Pick<Means, 'rows' | 'platform'> & Pick<DoctorOptions, 'publishedSettings'>,
): readonly Check[] {
  return [
    createPlatformCheck(platform),
    createPortsCheck({ ...config, platform }),
    createPublicAddressCheck({ ...config, clock }),
    createSoundCheck({ ...config, clock }),
    createDiskCheck({ ...config, warningOn }),
    createDatabaseCheck(rows, config.databaseUrl === undefined ? 'SQLite' : 'PostgreSQL'),
    createPasswordsCheck({ ...config, rows, publishedSettings }),
    createFileLimitsCheck({ maxCalls: portPairs(config.rtpPorts), platform }),
    createConfinementCheck({ browserUser: config.browserUser, platform }),
    createCertificatesCheck({
      files: certificateFilesOf(config),
      isMadeHere: ownCertificateOf(config) !== undefined,
      tlsName: tlsNameOf(config),
      clock,
      ports: { ...config, platform },
      accountNames: config.sipsPort === undefined ? undefined : createAccountNames(rows),
    }),
  ]
}

/** Returns no check if calls are neither signed nor verified. A file that cannot be read stops the start. */
function shakenChecks({ shakenAuthorities, shakenKey }: Config): readonly Check[] {
  if (shakenAuthorities === undefined && shakenKey === undefined) return []
  const files = new ShakenFiles({ authoritiesFile: shakenAuthorities, keyFile: shakenKey, clock, log })
  const look = async () => {
    await files.start()
    await files.stop()
    return [ok('The files of STIR/SHAKEN can be used')]
  }
  return [{ name: 'stir/shaken', look }]
}

/** Returns no check if no certificate is ordered. */
function acmeChecks(
  config: Config,
  { names, platform }: Pick<Means, 'names' | 'platform'>,
): readonly Check[] {
  const file = ownCertificateOf(config)
  if (config.acmeDomains.length === 0 || file === undefined) return []
  const { general: address } = createLocalAddress({ ...config, clock })
  const own = Object.values(networkInterfaces()).flatMap((all) => all?.map((one) => one.address) ?? [])
  return [
    createAcmeDomainsCheck({
      ...{ domains: config.acmeDomains, names, address, isOwnAddress: own.includes(address) },
      ...{ platform, clock },
      certificate: () => readFile(file, 'utf8').catch(() => ''),
    }),
  ]
}

/** Judges realms as the platform does when accounts ask for them; a silent name server is a fault here. */
function realmMeans(config: Config, { rows, names }: Pick<Means, 'rows' | 'names'>) {
  const { dnsServer: server, dnsZone: zone, dnsTsigName: name, dnsTsigSecret: secret } = config
  const hasServer = server !== undefined && zone !== undefined && name !== undefined && secret !== undefined
  return {
    updates: hasServer ? createUpdateClient({ server, zone, key: { name, secret }, clock }) : undefined,
    address: createLocalAddress({ ...config, clock }).general,
    leadsToUs: async (host: string): Promise<boolean> => {
      const look = await rows()
      if (look === undefined) return false
      const carrierHosts = { isCalledByOthers: () => Promise.resolve(false) }
      const facts = createRealmFacts({ ...config, names, storage: look, carrierHosts, isProduction: true })
      return facts.leadsToUs(host)
    },
  }
}

/** Throws StartError. */
async function scratchDirectory(): Promise<string> {
  const parent = tmpdir()
  try {
    return await mkdtemp(join(parent, 'switchhook-doctor-'))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StartError(
      `No folder can be made in ${parent} (${reason}): set TMPDIR to a folder that this user can write.`,
      { cause },
    )
  }
}

/** Opens speech and buckets, with the client and the address guard of the platform. */
async function openVendors(
  config: Config,
  { rows, names, isOffline }: Pick<Means, 'rows' | 'names'> & DoctorOptions,
) {
  const samples: ClockSample[] = []
  const direct = createOutgoing({ allow: reachableNetworks(config), log, clock, resolve: names.lookup })
  const outgoing = notingDates(direct, { clock, note: (sample) => void samples.push(sample) })
  const scratch = await scratchDirectory().catch((error: unknown) => error)
  if (typeof scratch !== 'string') {
    const look = (): Promise<never> => Promise.reject(scratch as Error)
    return {
      checks: ['speech', 'buckets'].map((name): Check => ({ name, look })),
      samples: () => Promise.resolve(samples),
      close: () => direct.close(),
    }
  }
  const credentials = { find: () => Promise.resolve(undefined) }
  const speech = createSpeech({ cacheDir: scratch, outgoing, credentials, clock, log })
  const buckets = createBuckets({ outgoing, clock, log })
  const common = { rows, isOffline, limitMs: vendorLimitMs }
  const tried = [
    createSpeechCheck({ ...common, speech }),
    createBucketsCheck({ ...common, test: (job) => buckets.test(job) }),
  ].map((check): Check => ({ name: check.name, look: once(() => check.look()) }))
  return {
    checks: tried,
    samples: async () => {
      await Promise.allSettled(tried.map((check) => check.look()))
      return samples
    },
    async close() {
      await speech.stop()
      await direct.close()
      await rm(scratch, { recursive: true, force: true })
    },
  }
}
