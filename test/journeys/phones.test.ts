// Several real phones of one user. Their calls on a platform that is killed are among the cases of killed.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

interface Placed {
  readonly sid: string
}

const patience = { timeoutMs: 40_000 }

let application: Application
let platform: Platform
let tenant: Tenant
const phones: Baresip[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/call', { json: [{ verb: 'pause', length: 1 }, { verb: 'hangup' }] })
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
  tenant = await provision(platform.api, { application })
})

afterAll(async () => {
  for (const phone of phones) await phone.stop()
  await application?.close()
})

async function register(answers: 'auto' | 'manual', transport: 'udp' | 'tcp' = 'udp'): Promise<Baresip> {
  const phone = await startBaresip({ ...tenant, proxy: { ...platform.sip, transport }, answers })
  phones.push(phone)
  expect(await phone.registered()).toMatchObject({ ok: true })
  return phone
}

function call(): Promise<Placed> {
  const { account_sid, application_sid, username: name } = tenant
  const to = { type: 'user', name }
  return platform.api.must<Placed>('POST', `/Accounts/${account_sid}/Calls`, {
    from: '1',
    to,
    application_sid,
  })
}

const told = (phone: Baresip, event: string) =>
  phone.events.next(event, ({ type }) => type === event, patience)

describe.skipIf(isMissing('baresip'))('the phones of a user', () => {
  it('all phones of a user ring, and when one is answered the other stops', async () => {
    const [quiet, quick] = [await register('manual'), await register('auto', 'tcp')]
    const path = `/Accounts/${tenant.account_sid}/RegisteredSipUsers`
    const [shown] = await platform.api.must<{ contacts: unknown[] }[]>('POST', path, [])
    expect(shown?.contacts).toHaveLength(2)
    const { sid } = await call()
    await told(quiet, 'CALL_INCOMING')
    await told(quick, 'CALL_ESTABLISHED')
    await told(quiet, 'CALL_CLOSED')
    await told(quick, 'CALL_CLOSED')
    const records = await recentCalls(platform.api, tenant.account_sid, 1)
    expect(records).toMatchObject([{ call_sid: sid, answered: true, trunk: 'user' }])
    const journal = await endedJournal(platform.api, tenant.account_sid, sid)
    expect(journal).toContainEqual(expect.objectContaining({ type: 'branch-answered' }))
    const cancel = journal.find(({ summary }) => summary === 'CANCEL')
    expect(String(cancel?.['raw'])).toContain('Reason: SIP;cause=200;text="Call completed elsewhere"')
  }, 90_000)
})
