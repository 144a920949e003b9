// The check of SIP realms: whether phones find the platform by them, and whether the name server accepts their records.
import { systemTenancy } from '../contracts/caller.ts'
import type { UpdateClient } from '../dns/dns.ts'
import { AppError } from '../lib/errors.ts'
import type { Names } from '../network/names.ts'
import { rowsIfAny, type Rows } from './database.ts'
import { bad, findingOf, note, ok, type Check, type Finding } from './doctor.ts'

export interface RealmsOptions {
  readonly rows: Rows
  readonly names: Pick<Names, 'lookup'>
  /** Reports whether a host name leads to an address of the platform. */
  readonly leadsToUs: (host: string) => Promise<boolean>
  /** Undefined if the platform updates no name server. */
  readonly updates: UpdateClient | undefined
  /** The platform's address for phones, in the cure. */
  readonly address: string
}

// More realms would take longer than an operator waits, and more lines are not read.
const maxRealms = 200
const maxLines = 10

export function createRealmsCheck(options: RealmsOptions): Check {
  return {
    name: 'realms',
    look: async () => (await Promise.all([lookAtServer(options.updates), lookAtRealms(options)])).flat(),
  }
}

/** Sends a signed update that contains no change. */
async function lookAtServer(updates: UpdateClient | undefined): Promise<readonly Finding[]> {
  if (updates === undefined) return []
  try {
    await updates.update([], [])
    return [ok('The name server of SWITCHHOOK_DNS_SERVER takes updates with its key')]
  } catch (error) {
    return [findingOf(error)]
  }
}

async function lookAtRealms(options: RealmsOptions): Promise<readonly Finding[]> {
  const look = await rowsIfAny(options.rows)
  if (look === undefined) return [note('Not checked: the realms are not known without the database')]
  const accounts = await look.for(systemTenancy).accounts.list({ limit: maxRealms })
  const realms = accounts.flatMap(({ sip_realm }) => sip_realm ?? [])
  if (realms.length === 0) return [note('No account has a SIP realm')]
  const findings = await Promise.all(realms.map((realm) => lookAt(realm, options)))
  const others = findings.filter((finding) => finding !== undefined)
  const good = realms.length - others.length
  const of = accounts.length < maxRealms ? `${realms.length}` : `the first ${realms.length}`
  return [
    ...(good === 0 ? [] : [ok(`${good} of ${of} lead to this platform`)]),
    ...others.slice(0, maxLines),
    ...(others.length > maxLines
      ? [judge(options)(`${others.length - maxLines} more lead elsewhere or nowhere`, ofMore)]
      : []),
  ]
}

const ofMore = 'Do for them what the lines above say, and run the doctor again.'

/**
 * Phones may reach the platform by an outbound proxy, which is this platform or an edge in front of it: DNS need not
 * know their realm. It has to where the platform writes the records of realms itself.
 */
function judge({ updates }: RealmsOptions): (what: string, cure: string) => Finding {
  return updates === undefined ? note : bad
}

/** Returns undefined if the realm leads here. */
async function lookAt(realm: string, options: RealmsOptions): Promise<Finding | undefined> {
  const { names, leadsToUs, address } = options
  const found = judge(options)
  const cure = `Phones with ${address}, or an edge in front of it, as their outbound proxy need no DNS. For others let an A or AAAA record of the realm lead there.`
  try {
    if (await leadsToUs(realm)) return undefined
    const addresses = (await names.lookup(realm)).map((one) => one.address).join(', ')
    return found(`${realm} leads to ${addresses}, which is not this platform`, cure)
  } catch (error) {
    const isSilent = error instanceof AppError && error.code === 'dns_unavailable'
    if (error instanceof AppError && !isSilent) return findingOf(error)
    const isUnknown = error instanceof Error && 'code' in error && error.code === 'ENOTFOUND'
    if (isUnknown && isReserved(realm))
      return note(
        `${realm} is a reserved name that is not in DNS: phones reach it with ${address} as their outbound proxy`,
      )
    if (isUnknown) return found(`${realm} is not known to DNS`, cure)
    return found(
      `No name server responds for ${realm}`,
      `See SWITCHHOOK_NAME_SERVERS and /etc/resolv.conf. Phones with ${address} as their outbound proxy need no DNS.`,
    )
  }
}

/** Reports a reserved name (RFC 6761, RFC 6762), which is meant to work without DNS. */
function isReserved(realm: string): boolean {
  return /\.(?:test|example|invalid|localhost|local|internal)$/i.test(realm)
}
