import { describe, expect, it } from 'vitest'
import {
  createPasswordQueue,
  placeOfLogin,
  placeOfTenant,
  type PasswordQueue,
  type Place,
} from './password-queue.ts'

const login = (of: string): Place => ({ kind: 'login', of })
const other = (of: string): Place => ({ kind: 'other', of })

/** Records the order in which the work begins; each work takes until the next turn of the loop. */
function createRecorder(line: PasswordQueue) {
  const begun: string[] = []
  const ask = (name: string, place: Place, signal?: AbortSignal): Promise<string> =>
    line.run(
      place,
      async () => {
        begun.push(name)
        await new Promise(setImmediate)
        return name
      },
      signal,
    )
  return { begun, ask }
}

const overloaded = expect.objectContaining({ code: 'overloaded', retryAfterSeconds: 2 })

describe('the line for hashing passwords', () => {
  it('has one turn at a time, in order', async () => {
    const line = createPasswordQueue()
    let running = 0
    const asked = Array.from({ length: 20 }, (_, number) =>
      line.run(login('a'), async () => {
        expect(++running).toBe(1)
        await new Promise(setImmediate)
        running--
        return number
      }),
    )
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 20 }, (_, number) => number))
  })

  it('serves logins first, and takes turns between those who wait', async () => {
    const { begun, ask } = createRecorder(createPasswordQueue())
    const asked = [ask('running', other('a'))]
    for (const name of ['a1', 'a2', 'a3']) asked.push(ask(name, other('a')))
    asked.push(ask('b1', other('b')), ask('c1', other('c')), ask('b2', other('b')))
    for (const name of ['x1', 'x2']) asked.push(ask(name, login('x')))
    asked.push(ask('y1', login('y')))
    await Promise.all(asked)
    expect(begun).toEqual(['running', 'x1', 'y1', 'x2', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  it('refuses a tenant whose own queue is full with a short Retry-After, and no other', async () => {
    const { ask } = createRecorder(createPasswordQueue())
    const asked = [ask('running', other('a'))]
    for (let count = 0; count < 50; count++) asked.push(ask('a', other('a')))
    await expect(ask('one more', other('a'))).rejects.toEqual(overloaded)
    asked.push(ask('b', other('b')), ask('login', login('a')))
    expect(await Promise.all(asked)).toHaveLength(53)
  })

  it('that is full makes room for a newcomer at the expense of the longest queue', async () => {
    const { begun, ask } = createRecorder(createPasswordQueue())
    const asked = [ask('running', login('a'))]
    for (let network = 0; network < 10; network++)
      for (let count = 0; count < 20; count++) asked.push(ask(`${network}`, login(`${network}`)))
    const newcomer = ask('newcomer', login('new'))
    const outcomes = await Promise.allSettled([...asked, newcomer])
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toEqual([{ status: 'rejected', reason: overloaded }])
    expect(begun.indexOf('newcomer')).toBeLessThan(12)
  })

  it('lets one leave who goes away, and the next moves up', async () => {
    const { begun, ask } = createRecorder(createPasswordQueue())
    const client = new AbortController()
    const first = ask('first', login('a'))
    const gone = ask('gone', login('a'), client.signal)
    const next = ask('next', login('a'), new AbortController().signal)
    client.abort(new Error('the client went away'))
    await expect(gone).rejects.toThrow('the client went away')
    await Promise.all([first, next])
    await expect(ask('late', login('a'), client.signal)).rejects.toThrow('went away')
    expect(begun).toEqual(['first', 'next'])
  })

  it('goes on after work that failed', async () => {
    const { ask } = createRecorder(createPasswordQueue())
    const failing = createPasswordQueue()
    const failed = failing.run(login('a'), () => Promise.reject(new Error('the thread died')))
    const next = failing.run(login('a'), async () => 'next')
    await expect(failed).rejects.toThrow('the thread died')
    expect(await next).toBe('next')
    expect(await ask('again', login('a'))).toBe('again')
  })

  it('has one queue for a site of IPv6, and one for each tenant', () => {
    expect(placeOfLogin('2001:db8:1:2::3')).toEqual(login('2001:db8:1::/48'))
    expect(placeOfLogin('::ffff:192.0.2.1')).toEqual(login('192.0.2.1'))
    const principal = { kind: 'api_key', api_key_sid: 'k' } as const
    const [service_provider_sid, account_sid] = ['provider', 'account']
    const of = [
      { level: 'account', service_provider_sid, account_sid },
      { level: 'service_provider', service_provider_sid },
      { level: 'admin' },
    ] as const
    const places = of.map((tenancy) => placeOfTenant({ tenancy, principal, isViewOnly: false }))
    expect(places).toEqual([other('account'), other('provider'), other('admin')])
  })
})
