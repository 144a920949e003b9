// Click to call with two real phones: the agent's rings first, then the customer's, and the two talk.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toneSegments, type Audio } from '../test/support/audio.ts'
import { happens, startExample, type ExampleRun } from '../test/support/example-run.ts'
import { sharedPlatform } from '../test/support/platform-process.ts'
import { createListening } from '../test/support/real-phones.ts'
import { isMissing } from '../test/support/tools.ts'
import { until } from '../test/support/wait.ts'

const agentHz = 700
const customerHz = 1100

describe.skipIf(isMissing('baresip'))('npm run example -- click-to-call', () => {
  let run: ExampleRun
  beforeAll(async () => {
    run = await startExample('click-to-call', await sharedPlatform())
  })
  afterAll(() => run?.close())

  const click = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${run.shown('The application listens at').split('. ')[0]}/click`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ agent: 'agent', customer: 'customer' }),
    })

  const isHeard = (audio: Audio, hz: number): boolean =>
    toneSegments(audio, hz).some(({ startMs, endMs }) => endMs - startMs > 500)

  it('calls the agent, then the customer, who sees the number of the company, and lets them talk', async () => {
    const agent = await run.phone('agent', { hz: agentHz })
    const customer = await run.phone('customer', { hz: customerHz })
    const response = await click({ 'content-type': 'application/json' })
    expect([response.status, await response.json()]).toMatchObject([
      201,
      { sid: expect.any(String) as string },
    ])
    await happens(agent, 'CALL_INCOMING')
    expect(customer.events.items.map(({ type }) => type)).not.toContain('CALL_INCOMING')
    await agent.command('accept')
    await happens(customer, 'CALL_INCOMING')
    const incoming = customer.events.items.find(({ type }) => type === 'CALL_INCOMING')
    expect(incoming?.peeruri).toMatch(/^sip:500@/)
    await customer.command('accept')
    await until('the agent to hear the customer', async () => isHeard(await agent.heard(), customerHz))
    await until('the customer to hear the agent', async () => isHeard(await customer.heard(), agentHz))
    await customer.hangUp()
    await happens(agent, 'CALL_CLOSED')
  }, 60_000)

  it.skipIf(isMissing('linphone', 'pjsua2'))(
    'does the same for other kinds of phone',
    async () => {
      await run.stopPhones()
      const listening = createListening()
      const [agent, customer] = await Promise.all([
        run.phoneOf('linphone', 'agent', { hz: agentHz }),
        run.phoneOf('pjsua2', 'customer', { hz: customerHz }),
      ])
      expect((await click({ 'content-type': 'application/json' })).status).toBe(201)
      await agent.is('called')
      await agent.answer()
      await customer.is('called')
      await customer.answer()
      await listening.hearEachOther(agent, customer)
      await agent.hangUp()
      await customer.is('ended')
      await listening.settled()
    },
    60_000,
  )

  it('places no call for a page from elsewhere', async () => {
    expect((await click({ 'content-type': 'text/plain' })).status).toBe(415)
  })
})

describe('npm run example -- click-to-call, asked for something that cannot be', () => {
  let run: ExampleRun
  beforeAll(async () => {
    run = await startExample('click-to-call', await sharedPlatform())
  })
  afterAll(() => run?.close())

  const post = (body: string): Promise<Response> =>
    fetch(`${run.shown('The application listens at').split('. ')[0]}/click`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })

  it.each(['{"agent": ', '[]', 'null', '{"agent": "agent"}'])(
    'says what the body must be to %s',
    async (body) => {
      const response = await post(body)
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { msg: expect.stringContaining('The body must be an object in JSON') as string },
      ])
    },
  )

  it('prints why an agent with a misspelt name is not called, and what helps', async () => {
    expect((await post('{"agent": "agnet", "customer": "customer"}')).status).toBe(201)
    await run.process.lines.next('the reason', (line) =>
      /^ {2}agnet@\S+ is not registered\. .+ \(user_not_registered\)$/.test(line),
    )
    expect(run.process.stdout).toMatch(/call to agnet\S*: failed\n/)
  })
})
