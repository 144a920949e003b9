// The record of a live call in the REST API.
import type { CallStatus } from './call-status.ts'

/** The members of the interface specification, and others that clients of this API expect. */
export interface LiveCall {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly application_sid?: string
  readonly call_id: string
  readonly sbc_callid: string
  readonly call_sid: string
  readonly call_status: CallStatus
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly caller_name: string
  readonly service_url: string
  readonly sip_status: number
  readonly sip_reason: string
  readonly duration?: number
  readonly originating_sip_ip?: string
  readonly originating_sip_trunk_name?: string
  readonly parent_call_sid?: string
  readonly caller_id?: string
  /** Set once the call has ended. */
  readonly call_termination_by?: 'caller' | 'jambonz'
  readonly trace_id: string
  /** Set once the call is recorded. */
  readonly recording_url?: string
  /** Set once the call is tagged. */
  readonly customerData?: object
  readonly local_sip_address: string
  readonly fs_sip_address: string
}
