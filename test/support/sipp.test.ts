import { describe, expect, it } from 'vitest'
import { headerOf, runSipp, startSipp } from './sipp.ts'
import { isMissing } from './tools.ts'

const values = { realm: 'example.test', username: 'alice', target: 'app-1@example.test' }

describe.skipIf(isMissing('sipp'))('the sipp driver', () => {
  it('the sipp driver runs calls between two sipp processes and counts them', async () => {
    const uas = await startSipp({ scenario: 'builtin:uas', calls: 20 })
    const result = await runSipp({
      scenario: 'builtin:uac',
      target: { address: '127.0.0.1', port: uas.port },
      calls: 20,
      callsPerSecond: 40,
    })
    await uas.stop()
    expect(result.report).toBe('')
    expect(result).toMatchObject({ code: 0, successful: 20, failed: 0 })
  })

  it('the sipp driver computes the digest over the address it sends to', async () => {
    const registrar = await startSipp({ scenario: 'as-registrar', values: { status: '200 OK' } })
    const result = await runSipp({
      scenario: 'register',
      target: { address: '127.0.0.1', port: registrar.port },
      username: 'alice',
      password: 'secret',
      values: { ...values, expires: 60, status: 200 },
    })
    await registrar.finished
    expect(result.report).toBe('')
    const second = result.messages.filter(({ start }) => start.startsWith('REGISTER'))[1]
    expect(headerOf(second, 'Authorization')).toMatch(
      /username="alice".*realm="example.test".*uri="sip:127\.0\.0\.1:\d+"/,
    )
  })

  it('the sipp driver reports what went wrong when a response is not the expected one', async () => {
    const registrar = await startSipp({ scenario: 'as-registrar', values: { status: '403 Forbidden' } })
    const result = await runSipp({
      scenario: 'register',
      target: { address: '127.0.0.1', port: registrar.port },
      username: 'alice',
      password: 'secret',
      values: { ...values, expires: 60, status: 200 },
    })
    await registrar.finished
    expect(result.code).not.toBe(0)
    expect(result.failed).toBe(1)
    expect(result.report).toContain('403 Forbidden')
  })
})
