// A tenant's SIP client played by sipp: it places calls through the platform by scenario.
import { recentCalls, type Platform, type RecentCallRecord, type Tenant } from './platform-process.ts'
import { headerOf, startSipp, type Sipp, type SippOptions, type SippResult } from './sipp.ts'
import { until } from './wait.ts'

export interface LiveCall {
  readonly call_sid: string
  readonly call_status: string
}

export interface Caller {
  /** Runs a scenario of scenarios/ to its end. `target` is the Request-URI without its scheme. */
  call(
    scenario: string,
    target: string,
    values?: SippOptions['values'],
    options?: Partial<SippOptions>,
  ): Promise<SippResult>
  /** Starts a call as `call` does, without waiting for its end. */
  start(
    scenario: string,
    target: string,
    values?: SippOptions['values'],
    options?: Partial<SippOptions>,
  ): Promise<Sipp>
  /** Returns the one record of the call that sipp placed. */
  recordOf(result: SippResult): Promise<RecentCallRecord>
  liveCalls(): Promise<LiveCall[]>
  /** Returns the live calls once one of them is answered. */
  answered(): Promise<LiveCall[]>
  noLiveCall(): Promise<void>
}

export function createCaller(platform: Platform, tenant: Tenant): Caller {
  const start: Caller['start'] = (scenario, target, values = {}, options = {}) => {
    const username = options.username ?? tenant.username
    return startSipp({
      scenario,
      target: platform.sip,
      username,
      password: tenant.password,
      timeoutSeconds: 45,
      ...options,
      values: {
        realm: tenant.realm,
        username,
        target,
        byeHeader: '',
        cancelHeader: '',
        header: '',
        ...values,
      },
    })
  }
  const liveCalls: Caller['liveCalls'] = () =>
    platform.api.must<LiveCall[]>('GET', `/Accounts/${tenant.account_sid}/Calls`)
  return {
    start,
    liveCalls,
    async call(scenario, target, values, options) {
      const sipp = await start(scenario, target, values, options)
      return await sipp.finished
    },
    async recordOf(result) {
      const callId = headerOf(result.messages[0], 'Call-ID')
      return await until(`the record of ${callId}`, async () => {
        const records = await recentCalls(platform.api, tenant.account_sid, 1)
        const own = records.filter((record) => record.sip_call_id === callId)
        if (own.length > 1) throw new Error(`${own.length} records for one call`)
        return own[0]
      })
    },
    answered: () =>
      until('the call to be answered', async () => {
        const calls = await liveCalls()
        return calls.some(({ call_status }) => call_status === 'in-progress') ? calls : undefined
      }),
    async noLiveCall() {
      await until('no live call', async () => (await liveCalls()).length === 0)
    },
  }
}
