import { describe, expect, it } from 'vitest'
import type { AccountFacts, CarrierMatch } from '../ports.ts'
import { matchOf } from '../../../test/support/scripted-engine/carriers.ts'
import { identifyCaller } from './calling-carrier.ts'

const account: AccountFacts = {
  account_sid: 'a',
  service_provider_sid: 'p',
  sip_realm: 'a.example',
  is_active: true,
  device_calling_application_sid: null,
  siprec_hook_sid: null,
  disable_cdrs: false,
  ringing_after_ms: null,
  sensitive_digits: false,
  enable_debug_log: false,
  record_all_calls: false,
  record_format: 'mp3',
}

const own = matchOf('own')
const sibling = matchOf('sibling', { account_sid: 'b' })
const shared = matchOf('shared', { account_sid: null })
const foreign = matchOf('foreign', { account_sid: null, service_provider_sid: 'q' })
const platform = matchOf('platform', { account_sid: null, service_provider_sid: null })
const registration = { username: 'trunk1', realm: 'carrier.example' }
const registered = matchOf('registered', { registration })
const registeredToo = matchOf('registered too', { registration, account_sid: 'b' })

interface Case {
  readonly host?: string
  readonly user?: string
  readonly isRealm?: boolean
  readonly isOurAddress?: boolean
  readonly isLikeUser?: boolean
  readonly matches: readonly CarrierMatch[]
}

function shown({
  host = '203.0.113.1',
  user = '15551230100',
  isRealm = false,
  isOurAddress = false,
  isLikeUser = false,
  matches,
}: Case): string {
  const realmOwner = isRealm ? account : undefined
  const caller = identifyCaller({ host, isOurAddress, user, matches, realmOwner, isLikeUser })
  if (caller.kind === 'user') return 'user'
  const sids = caller.matches.map(({ carrier }) => carrier.voip_carrier_sid).join(', ')
  return `${caller.rule}: ${sids}`
}

describe('who is calling', () => {
  it.each<[string, Case, string]>([
    ['a stranger', { matches: [] }, 'user'],
    ['a stranger who names a realm', { isRealm: true, matches: [] }, 'user'],
    ['a carrier of the realm', { isRealm: true, matches: [own] }, 'caller-own-carrier: own'],
    ['a shared carrier, to a realm', { isRealm: true, matches: [shared] }, 'caller-own-carrier: shared'],
    [
      'one of several, to a realm',
      { isRealm: true, matches: [sibling, own, foreign, shared] },
      'caller-own-carrier: own, shared',
    ],
    [
      'a carrier of another account, to a realm',
      { isRealm: true, matches: [sibling] },
      'caller-carrier-address: sibling',
    ],
    [
      'a carrier of another provider, to a realm',
      { isRealm: true, matches: [foreign] },
      'caller-carrier-address: foreign',
    ],
    [
      'a carrier of the platform, to a realm',
      { isRealm: true, matches: [platform] },
      'caller-carrier-address: platform',
    ],
    [
      'a user of a realm, from where carriers of others call',
      { isRealm: true, isLikeUser: true, matches: [sibling, foreign] },
      'user',
    ],
    [
      'a user of a realm that calls our address, from where a carrier of another calls',
      { isLikeUser: true, matches: [sibling] },
      'user',
    ],
    ['a carrier', { matches: [own] }, 'caller-carrier-address: own'],
    ['one of several', { matches: [own, sibling, foreign] }, 'caller-carrier-address: own, sibling, foreign'],
    [
      'a carrier we register with',
      { host: 'carrier.example', user: 'trunk1', matches: [own, registered] },
      'caller-registered-carrier: registered',
    ],
    [
      'a carrier we register with, to our Contact',
      { isOurAddress: true, user: 'trunk1', matches: [own, registered] },
      'caller-registered-carrier: registered',
    ],
    [
      'a carrier we register with, to a number at our address',
      { isOurAddress: true, matches: [own, registered] },
      'caller-carrier-address: own, registered',
    ],
    [
      'one of two that we register with as the same',
      { host: 'carrier.example', user: 'trunk1', matches: [registered, registeredToo] },
      'caller-registered-carrier-ambiguous: registered, registered too',
    ],
    [
      'a carrier we register with, to another user',
      { host: 'carrier.example', matches: [registered] },
      'caller-carrier-address: registered',
    ],
    [
      'a carrier we register with, to another host',
      { user: 'trunk1', matches: [registered] },
      'caller-carrier-address: registered',
    ],
  ])('%s', (_, call, expected) => {
    expect(shown(call)).toBe(expected)
  })

  it('names the account only where the call does', () => {
    const call = { host: 'a.example', user: '1', isLikeUser: false, matches: [own] }
    expect(identifyCaller({ ...call, realmOwner: account })).toMatchObject({ account })
    expect(identifyCaller({ ...call, realmOwner: undefined })).toMatchObject({ account: undefined })
  })
})
