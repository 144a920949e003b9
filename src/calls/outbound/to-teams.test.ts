import { describe, expect, it } from 'vitest'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { udpAt } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { callRequest, outboundCarrier } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { fqdn, tenantOf } from '../../../test/support/scripted-engine/teams.ts'
import type { CallRequest } from '../call-request.ts'
import { combine, noChoices } from '../defence-settings.ts'
import { teamsProxyKey } from '../../contracts/teams.ts'

const other = 'other.teams.example.com'
const proxyAt = (n: number) => ({ host: `192.0.2.20${n}`, port: 5061 })

async function place(
  to: Partial<Extract<CallRequest['to'], { type: 'teams' }>> = {},
  facts: Partial<ScriptedEngine> = {},
) {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'speak' }])
  Object.assign(engine, { teamsTenants: [tenantOf()] }, facts)
  const request: CallRequest = {
    ...callRequest,
    fromHost: 'a.lie.example.com',
    to: { type: 'teams', number: '+15550100', ...to },
  }
  const { call_sid } = await placeOn(engine, request)
  await settle()
  return { engine, journal: () => engine.store.journalOf(call_sid) }
}

const rulesOf = (events: readonly { readonly type: string }[]): unknown[] =>
  events.flatMap((event) => (event.type === 'decision' && 'rule' in event ? [event.rule] : []))

describe('a call to Microsoft Teams', () => {
  it('goes to the first proxy over TLS with SRTP, in the name of the only tenant', async () => {
    const { engine, journal } = await place()
    const [invite] = engine.sent
    const uri = 'sip:+15550100@192.0.2.201:5061;transport=tls;user=phone'
    expect(invite?.options).toMatchObject({
      uri,
      to: uri,
      from: `<sip:+4420@${fqdn}>`,
      contactUser: '+4420',
      contactHost: fqdn,
      destination: { transport: 'tls', address: '192.0.2.201', port: 5061, name: '192.0.2.201' },
    })
    expect(engine.media.sessions[0]?.protections).toEqual(['required'])
    expect(invite?.options.mayReach?.(udpAt('192.0.2.202'))).toBe(true)
    expect(invite?.options.mayReach?.(udpAt('192.0.2.66'))).toBe(false)
    invite?.answer()
    await settle()
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.records).toMatchObject([{ trunk: 'Microsoft Teams', to: '15550100', answered: true }])
    expect(rulesOf(journal())).toContain('teams-only-tenant')
  })

  it('tries the next proxies in their order, after 503 with Retry-After for one', async () => {
    const { engine } = await place()
    engine.sent[0]?.refuse(503, [{ name: 'retry-after', value: '1' }])
    await settle()
    engine.clock.advance(2_000)
    await settle()
    expect(engine.sent.map(({ options }) => options.destination?.address)).toEqual(
      [1, 2, 3].map((n) => proxyAt(n).host),
    )
    const key = (n: number): string => teamsProxyKey(fqdn, proxyAt(n))
    expect(engine.gatewaySigns).toContain(`${key(2)}: silent`)
    expect(engine.gatewaySigns[0]).toContain(key(1))
  })

  it('passes over a proxy that does not answer OPTIONS, by the name that OPTIONS went out in', async () => {
    const ping_fqdn = 'teams.example.com'
    const gatewaysDown = new Set([teamsProxyKey(ping_fqdn, proxyAt(1))])
    const { engine, journal } = await place({}, { teamsTenants: [tenantOf({ ping_fqdn })], gatewaysDown })
    expect(engine.sent[0]?.options.destination?.address).toBe('192.0.2.202')
    expect(rulesOf(journal())).toContain('teams-proxy-down')
  })

  it('calls the voice mail of a number, and a name as it is', async () => {
    const mail = await place({ isVoiceMail: true })
    expect(mail.engine.sent[0]?.options.uri).toBe(
      'sip:+15550100@192.0.2.201:5061;transport=tls;user=phone;opaque=app:voicemail',
    )
    const named = await place({ number: 'carol' })
    expect(named.engine.sent[0]?.options.uri).toBe('sip:carol@192.0.2.201:5061;transport=tls')
  })

  it.each<[string, object, Partial<ScriptedEngine>, string]>([
    ['has none', {}, { teamsTenants: [] }, 'the account has no Microsoft Teams tenant'],
    [
      'has several, and none is named',
      {},
      { teamsTenants: [tenantOf(), tenantOf({ tenant_fqdn: other })] },
      'the account has 2 Microsoft Teams tenants',
    ],
    [
      'names that of another account',
      { tenant: other },
      { teamsTenants: [tenantOf(), tenantOf({ tenant_fqdn: other, account_sid: 'another' })] },
      `the account has no Microsoft Teams tenant "${other}"`,
    ],
  ])('of an account that %s fails by name, and nothing is sent', async (_what, to, facts, sentence) => {
    const { engine, journal } = await place(to, facts)
    expect(engine.sent).toEqual([])
    expect(rulesOf(journal())).toContain('teams-no-tenant')
    expect(journal()).toContainEqual(
      expect.objectContaining({ type: 'refusal', code: 'unknown_teams_tenant' }),
    )
    expect(JSON.stringify(journal())).toContain(JSON.stringify(sentence).slice(1, -1))
  })

  it('goes out in the name that is named, in any case', async () => {
    const teamsTenants = [tenantOf(), tenantOf({ tenant_fqdn: other })]
    const { engine } = await place({ tenant: 'Other.Teams.Example.com' }, { teamsTenants })
    expect(engine.sent[0]?.options.contactHost).toBe(other)
  })

  it('fails by name where the platform cannot show Microsoft its name', async () => {
    const { engine, journal } = await place(
      {},
      { teamsFault: 'the certificate of the platform does not name' },
    )
    expect(engine.sent).toEqual([])
    expect(journal()).toContainEqual(expect.objectContaining({ type: 'refusal', code: 'teams_not_ready' }))
  })

  it('is one that leaves the platform: the kill switch ends it', async () => {
    const defence = { ...combine(noChoices, noChoices), killSwitch: 'all_calls' } as const
    await expect(place({}, { defence })).rejects.toMatchObject({ code: 'outbound_stopped' })
  })
})

describe('Microsoft Teams', () => {
  it.each<[string, CallRequest['to'], boolean]>([
    ['a SIP URI', { type: 'sip', sipUri: 'sip:+15550100@192.0.2.201:5061;transport=tls' }, false],
    ['a proxy', { type: 'sip', sipUri: 'sip:+1@192.0.2.66', proxy: 'sip:192.0.2.202;transport=tls' }, false],
    ['a carrier of the account', { type: 'phone', number: '+15550100' }, false],
    ['a carrier of the service provider', { type: 'phone', number: '+15550100' }, true],
  ])('is reached by %s: only where the operator is trusted with it', async (_what, to, isShared) => {
    const engine = createScriptedEngine(parsePlainVerbs)
    engine.hooks.on('/call', [{ verb: 'speak' }])
    engine.waysOut = [outboundCarrier('c', { isShared, gateways: [gatewayToTeams] })]
    const { call_sid } = await placeOn(engine, { ...callRequest, to })
    await settle()
    expect(engine.sent).toHaveLength(isShared ? 1 : 0)
    const refused = engine.store.journalOf(call_sid).filter(({ type }) => type === 'refusal')
    expect(refused).toMatchObject(isShared ? [] : [{ code: 'teams_by_tenant_only' }])
  })
})

const gatewayToTeams = {
  sip_gateway_sid: 'g',
  host: '192.0.2.203',
  port: 5061,
  protocol: 'tls',
} as const
