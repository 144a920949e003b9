import { describe, expect, it } from 'vitest'
import { matchOf, numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import {
  udpAt,
  type ScriptedInvite,
  type ScriptedInviteOptions,
} from '../../../test/support/scripted-engine/scripted-sip.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { fqdn, fromTeams, tenantOf } from '../../../test/support/scripted-engine/teams.ts'

const { account_sid } = account

function platformWith(facts: Partial<ScriptedEngine> = {}): ScriptedEngine {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'speak' }])
  return Object.assign(engine, { teamsTenants: [tenantOf()] }, facts)
}

async function ring(
  engine: ScriptedEngine,
  changes: Partial<ScriptedInviteOptions> = {},
): Promise<ScriptedInvite> {
  const invite = engine.ring(fromTeams(changes))
  await settle()
  return invite
}

const xReason = (invite: ScriptedInvite): string | undefined =>
  invite.final?.headers?.find(({ name }) => name === 'x-reason')?.value

describe('a call from Microsoft Teams', () => {
  it('reaches the application of its tenant, with the tenant in the call hook, and the record has the trunk', async () => {
    const engine = platformWith()
    const headers = [
      { name: 'p-asserted-identity', value: '<sip:+15550177@sip.pstnhub.microsoft.com>' },
      { name: 'x-ms-teams-tenant-fqdn', value: 'a.lie.example.com' },
    ]
    const invite = await ring(engine, { headers })
    expect(engine.hooks.payloadsOf('/call')).toMatchObject([
      {
        account_sid,
        application_sid: application.application_sid,
        to: '+15550100',
        originating_sip_trunk_name: 'Microsoft Teams',
        originating_sip_ip: '192.0.2.201',
        sip: { headers: { 'X-MS-Teams-Tenant-FQDN': fqdn } },
      },
    ])
    expect(JSON.stringify(engine.hooks.payloadsOf('/call'))).not.toContain('a.lie.example.com"')
    expect(invite.contactHost).toBe(fqdn)
    expect(invite.mayReach?.(udpAt('192.0.2.203'))).toBe(true)
    expect(invite.mayReach?.(udpAt('192.0.2.66'))).toBe(false)
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.records).toMatchObject([
      { trunk: 'Microsoft Teams', from: '+15550177', answered: true },
    ])
    const journal = engine.store.journalOf(engine.store.records[0]?.call_sid ?? '')
    expect(journal.filter(({ type }) => type === 'decision')).toMatchObject([
      { rule: 'caller-teams', outcome: fqdn },
      { rule: 'teams-application', outcome: application.application_sid },
    ])
  })

  it('is none over UDP or a WebSocket, nor from another address: it must prove a password as any user', async () => {
    for (const changes of [
      { transport: 'udp' },
      { transport: 'tcp' },
      { transport: 'wss' },
      { address: '192.0.2.66' },
    ] as const) {
      const engine = platformWith({ authentication: { verdict: 'challenge', reply: { status: 401 } } })
      expect((await ring(engine, changes)).final?.status).toBe(401)
      expect(engine.hooks.asked).toEqual([])
    }
  })

  it('comes by a proxy of the operator, which names where it came from', async () => {
    const engine = platformWith()
    const headers = [{ name: 'x-forwarded-for', value: '192.0.2.202' }]
    await ring(engine, { address: '10.0.0.1', headers })
    expect(engine.hooks.payloadsOf('/call')).toMatchObject([{ originating_sip_ip: '192.0.2.202' }])
  })

  it('is the tenant’s, also where another account has entered the addresses of Microsoft as its carrier', async () => {
    const carriers = [matchOf('thief', { account_sid: 'another' })]
    const numbers = [numberOf('15550100', 'thief', { account_sid: 'another', application_sid: 'theirs' })]
    const engine = platformWith({ carriers, numbers })
    await ring(engine)
    expect(engine.hooks.payloadsOf('/call')).toMatchObject([{ account_sid }])
  })

  it.each<[string, Partial<ScriptedEngine>, Partial<ScriptedInviteOptions>, number, string]>([
    [
      'to a name that is no tenant',
      {},
      { to: '+1@other.example.com' },
      404,
      'no Microsoft Teams tenant other',
    ],
    [
      'of a tenant without an account',
      { teamsTenants: [tenantOf({ account_sid: null })] },
      {},
      404,
      `the Microsoft Teams tenant ${fqdn} has no account`,
    ],
  ])('%s is refused, and leaves no record', async (_what, facts, changes, status, reason) => {
    const engine = platformWith(facts)
    const invite = await ring(engine, changes)
    expect(invite.final?.status).toBe(status)
    expect(xReason(invite)).toContain(reason)
    expect(engine.store.records).toEqual([])
  })

  it.each<[string, Partial<ScriptedEngine>, Partial<ScriptedInviteOptions>, number, string]>([
    [
      'of a tenant without an application',
      { teamsTenants: [tenantOf({ application_sid: null })] },
      {},
      404,
      'no configured application',
    ],
    [
      'of a tenant with the application of another account',
      { teamsTenants: [tenantOf({ application_sid: 'theirs' })] },
      {},
      480,
      'the account has no such application',
    ],
    [
      'of an account that is switched off',
      { account: { ...account, is_active: false } },
      {},
      503,
      'inactive',
    ],
    ['without encryption', {}, { body: 'v=0\r\nm=audio 4000 RTP/AVP 0\r\n' }, 488, 'encrypted by SRTP alone'],
    ['beyond the limit of the account', { limits: { account: 1 } }, {}, 503, 'Max Account Calls'],
  ])('%s is refused, and the record says why', async (_what, facts, changes, status, reason) => {
    const engine = platformWith(facts)
    if (facts.limits !== undefined) await ring(engine, { callId: 'the first' })
    const invite = await ring(engine, changes)
    expect(invite.final?.status).toBe(status)
    expect(xReason(invite)).toContain(reason)
    expect(engine.store.records).toMatchObject([{ sip_status: status, trunk: 'Microsoft Teams' }])
  })

  it('without an offer is offered SRTP alone', async () => {
    const engine = platformWith()
    await ring(engine, { body: '' })
    expect(engine.media.sessions[0]?.protections ?? []).toEqual(['required'])
  })
})
