import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, type TestUser } from '../../../test/support/api-tenants.ts'
import { Inbox, until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createLogger } from '../../lib/log.ts'

interface LogLine {
  readonly msg: string
  readonly address?: string
  readonly user_sid?: string
}

interface Alert {
  readonly account_sid: string | null
  readonly message: string
}

const lines = new Inbox<LogLine>()
let api: TestApi
beforeAll(async () => {
  const log = createLogger('info', { write: (line) => lines.push(JSON.parse(line) as LogLine) })
  api = await openTestApi({ log })
})
afterAll(() => api.close())

/** Sends six wrong passwords, and three more attempts that are locked out. */
async function guess(username: string): Promise<void> {
  const codes: string[] = []
  for (let attempt = 0; attempt < 9; attempt++) {
    const { body } = await api.post('/login', undefined, { username, password: 'wrong' })
    codes.push((body as { readonly code: string }).code)
  }
  expect(codes).toEqual([
    ...Array<string>(6).fill('wrong_credentials'),
    ...Array<string>(3).fill('locked_out'),
  ])
}

async function lockOut(owner: TestUser): Promise<string> {
  const name = await createUser(api.storage, owner)
  await guess(name)
  const [user] = await api.storage.for(systemTenancy).users.list({ where: { name } })
  await lines.next('the log', (line) => line.user_sid === user?.user_sid)
  await api.storage.alerts.flush()
  return name
}

async function alerts(path: string, token: string): Promise<readonly Alert[]> {
  const { body } = await api.get(`${path}/Alerts?page=1&count=100&alert_type=user-locked-out`, token)
  return (body as { readonly data: readonly Alert[] }).data
}

const messageOf = (name: string): string => `${name} is locked out at 127.0.0.1 after 6 wrong passwords`

describe('a lock-out', () => {
  it('of a user of an account is one alert, for the account and its provider only', async () => {
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    const name = await lockOut({ account_sid, service_provider_sid })
    const told = [expect.objectContaining({ account_sid, message: messageOf(name) })]
    expect(await alerts(`/Accounts/${account_sid}`, accountKey)).toEqual(told)
    expect(await alerts(`/ServiceProviders/${service_provider_sid}`, providerKey)).toEqual(told)
    const { sibling } = api
    expect(await alerts(`/Accounts/${sibling.account_sid}`, sibling.accountKey)).toEqual([])
  })

  it('of a user of a provider is an alert of the provider', async () => {
    const { service_provider_sid, providerKey } = api.foreign
    const name = await lockOut({ service_provider_sid })
    expect(await alerts(`/ServiceProviders/${service_provider_sid}`, providerKey)).toEqual([
      expect.objectContaining({ message: messageOf(name) }),
    ])
  })

  it('of an administrator, which no tenant may see, is written to the log', async () => {
    const from = lines.items.length
    const name = await lockOut({})
    const told = lines.items.slice(from).filter(({ msg }) => msg === 'user locked out of logins')
    expect(told).toEqual([expect.objectContaining({ address: '127.0.0.1' })])
    expect(JSON.stringify(told)).not.toContain(name)
  })

  it('leaves no entry in the audit log, and no trace of a name that no user has', async () => {
    const total = async (): Promise<number> => {
      const { body } = await api.get('/AuditLog?page=1&count=1', api.adminKey)
      return (body as { readonly total: number }).total
    }
    const before = await total()
    await guess('my-password-typed-in-the-wrong-field')
    expect(await total()).toBe(before)
    // The next report would come after one about the unknown name.
    await lockOut({})
    expect(JSON.stringify(lines.items)).not.toContain('my-password')
  })

  it('of an address that tries many names is written to the log', async () => {
    let tried = 0
    await until('the address to be locked out', async () => {
      const { body } = await api.post('/login', undefined, {
        username: `unknown-${++tried}`,
        password: 'p',
      })
      return (body as { readonly code: string }).code === 'locked_out'
    })
    const told = lines.items.filter(({ msg }) => msg === 'address locked out of logins')
    expect(told).toEqual([expect.objectContaining({ address: '127.0.0.1' })])
  })
})
