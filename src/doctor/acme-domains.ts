// The check of the domains that certificates are ordered for: whether each and its port 80 lead here, and how long its
// certificate is valid.
import { X509Certificate } from 'node:crypto'
import { get } from 'node:http'
import { warnDays } from '../certificates/certificates.ts'
import type { Clock } from '../lib/clock.ts'
import type { Names } from '../network/names.ts'
import { bad, note, ok, type Check, type Finding } from './doctor.ts'
import { isRunning, type RunningPlatform } from './running-platform.ts'

export interface AcmeDomainsOptions {
  readonly domains: readonly string[]
  readonly names: Pick<Names, 'lookup'>
  /** The platform's address for peers. */
  readonly address: string
  /** Whether that is an address of this machine, so that there is no NAT between. */
  readonly isOwnAddress: boolean
  readonly platform: () => Promise<RunningPlatform>
  /** Returns the platform's certificate as PEM; empty if there is none. */
  readonly certificate: () => Promise<string>
  readonly clock: Pick<Clock, 'now'>
  /** The port of the authority's request, for tests. */
  readonly port?: number
}

const dayMs = 86_400_000
const responseMs = 3_000
const maxResponseBytes = 10_000
// RFC 8555 §8.3. No order has this token, so the platform responds that there is no such challenge.
const path = '/.well-known/acme-challenge/doctor'
const ours = 'no such challenge'

export function createAcmeDomainsCheck(options: AcmeDomainsOptions): Check {
  return {
    name: 'acme',
    look: () => Promise.all(options.domains.map((domain) => lookAt(domain, options))),
  }
}

async function lookAt(domain: string, options: AcmeDomainsOptions): Promise<Finding> {
  const { address, platform } = options
  const record = `Let an A or AAAA record of it lead to ${address}, or set SWITCHHOOK_PUBLIC_ADDRESS to where it leads.`
  const addresses = await addressesOf(domain, options)
  if (addresses instanceof Error) return bad(`${domain} is not known to DNS`, record)
  if (!addresses.includes(address))
    return bad(
      `${domain} leads to ${addresses.join(', ')}, and the platform is reached at ${address}`,
      record,
    )
  if (!isRunning(await platform()))
    return note(`${domain} leads here. Its port 80 is not checked: the platform does not run`)
  const asked = await Promise.all(addresses.map((one) => askAt(one, domain, options)))
  return asked.find((finding) => finding !== undefined) ?? (await validity(domain, options))
}

async function addressesOf(
  domain: string,
  { names }: AcmeDomainsOptions,
): Promise<readonly string[] | Error> {
  try {
    return (await names.lookup(domain)).map((found) => found.address)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Returns undefined if the platform responds. */
async function askAt(
  address: string,
  domain: string,
  { port = 80, isOwnAddress }: AcmeDomainsOptions,
): Promise<Finding | undefined> {
  const response = await responseOf(address, domain, port)
  const cure = `Let port 80 of it, or ${path.replace('doctor', '')} of the server that listens there, lead to SWITCHHOOK_HTTP_PORT.`
  if (typeof response === 'string')
    return response.includes(ours)
      ? undefined
      : bad(`Port 80 of ${domain} leads to another server: the authority finds no proof there`, cure)
  const what = `Port 80 of ${domain} cannot be reached from here (${response.message})`
  // Few routers send packets from behind them back inside.
  return isOwnAddress ? bad(what, cure) : note(`${what}, which says little behind NAT`, cure)
}

function responseOf(host: string, domain: string, port: number): Promise<string | Error> {
  const { promise, resolve } = Promise.withResolvers<string | Error>()
  const headers = { host: domain }
  const request = get({ host, port, path, headers, agent: false, timeout: responseMs }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      text += piece
      if (text.length > maxResponseBytes) request.destroy()
    })
    response.on('close', () => resolve(text))
  })
  request.on('timeout', () => request.destroy(new Error('no response')))
  request.on('error', resolve)
  return promise
}

async function validity(domain: string, { certificate, clock }: AcmeDomainsOptions): Promise<Finding> {
  const leads = `${domain} leads here, and so does its port 80`
  const see =
    'The log of the platform says why no certificate was ordered ("certificate not ordered"), and so does an alert.'
  const found = parsed(await certificate())
  // A certificate for development is signed by itself.
  if (found === undefined || found.checkIssued(found) || found.checkHost(domain) === undefined)
    return note(`${leads}. There is no certificate for it yet: one is ordered within minutes`, see)
  const days = Math.floor((Date.parse(found.validTo) - clock.now()) / dayMs)
  const until = new Date(found.validTo).toISOString()
  if (days < warnDays) return bad(`${leads}. Its certificate was not renewed, and ends on ${until}`, see)
  return ok(`${leads}. Its certificate is valid for ${days} days, until ${until}`)
}

function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}
