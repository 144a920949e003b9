// The public client libraries of this API, loaded as customers load them, and the parts of each that these tests use.
import type { IncomingMessage, Server } from 'node:http'
import { createRequire } from 'node:module'
import type { Middleware } from './webhook-server.ts'

const load = createRequire(import.meta.url)

type Options = Readonly<Record<string, unknown>>
type VerbName =
  | 'say'
  | 'play'
  | 'gather'
  | 'dial'
  | 'pause'
  | 'redirect'
  | 'hangup'
  | 'tag'
  | 'config'
  | 'answer'
  | 'listen'
  | 'dub'
  | 'conference'
  | 'dequeue'
  | 'enqueue'
  | 'leave'
  | 'stream'

/** The verb methods. Each appends its verb to the document and returns the document. */
type Verbs<Self> = { readonly [Name in VerbName]: (options?: Options) => Self }

export interface Document extends Verbs<Document> {
  toJSON(): readonly Options[]
}

export interface CallInfo {
  readonly call_sid: string
  readonly call_status: string
  readonly direction: string
}

/** `@jambonz/node-client`. */
export interface NodeClient {
  (accountSid: string, apiKey: string, options: { baseUrl: string }): NodeRestClient
  readonly WebhookResponse: {
    new (): Document
    verifyJambonzSignature(secret: string | readonly string[]): Middleware
  }
}

export interface NodeRestClient {
  readonly applications: {
    create(application: Options): Promise<string>
    list(): Promise<readonly { readonly application_sid: string; readonly name: string }[]>
    retrieve(sid: string): Promise<{ readonly name: string }>
    update(sid: string, application: Options): Promise<void>
    delete(sid: string): Promise<void>
  }
  readonly calls: {
    create(call: Options): Promise<string>
    list(): Promise<readonly CallInfo[]>
    retrieve(sid: string): Promise<CallInfo>
    update(sid: string, change: Options): Promise<void>
    delete(sid: string): Promise<void>
  }
}

/** `@jambonz/sdk/client`. */
export interface SdkClient {
  readonly calls: {
    create(call: Options): Promise<string>
    list(filter?: Options): Promise<readonly CallInfo[]>
    get(sid: string): Promise<CallInfo>
    count(): Promise<{ readonly inbound: number; readonly outbound: number }>
    update(sid: string, change: Options): Promise<void>
    delete(sid: string): Promise<void>
    redirect(sid: string, hook: string | Options): Promise<void>
    whisper(sid: string, verb: Options): Promise<void>
    mute(sid: string, status: 'mute' | 'unmute'): Promise<void>
  }
  readonly conferences: { list(): Promise<readonly string[]> }
  readonly queues: { list(search?: string): Promise<readonly { readonly name: string }[]> }
}

/** `@jambonz/sdk/webhook`. */
export interface SdkWebhook {
  readonly WebhookResponse: {
    new (options?: { validate?: boolean }): Document
    verifySignature(secret: string): Middleware
  }
  envVarsMiddleware(schema: Options): Middleware
}

export const nodeClient = load('@jambonz/node-client') as NodeClient
export const { JambonzClient } = load('@jambonz/sdk/client') as {
  JambonzClient: new (options: { baseUrl: string; accountSid: string; apiKey: string }) => SdkClient
}
export const sdkWebhook = load('@jambonz/sdk/webhook') as SdkWebhook

/** One call of an application over WebSocket; its events have the names of its verbs' hooks. */
export interface WsSession extends Verbs<WsSession> {
  readonly data: Options
  on(event: string, listener: (data: Record<string, unknown>) => void): WsSession
  send(options?: { execImmediate?: boolean }): void
  reply(options?: { execImmediate?: boolean }): void
  injectCommand(command: string, data?: unknown, callSid?: string): void
  sendCommand(command: string, data?: unknown): void
}

/** A session of `@jambonz/sdk/websocket`, which has more methods. */
export interface SdkSession extends WsSession {
  readonly callSid: string
  notifyEvents(isWanted?: boolean): SdkSession
  injectMute(status: 'mute' | 'unmute', callSid?: string): void
  injectWhisper(verb: Options, callSid?: string): void
  injectRecord(action: string, options?: Options, callSid?: string): void
  injectTag(data: Options): void
}

export interface WsService<S> {
  on(event: 'session:new', listener: (session: S, path: string, request?: IncomingMessage) => void): void
}

/** One call of `listen` or `stream`. */
export interface AudioStream {
  readonly sampleRate: number
  readonly metadata: Options
  on(event: 'audio', listener: (pcm: Buffer) => void): void
  on(event: 'mark', listener: (mark: { name: string; event: string }) => void): void
  sendAudio(pcm: Buffer): void
  sendMark(name: string): void
  disconnect(): void
}

export interface AudioService {
  on(event: 'connection', listener: (stream: AudioStream) => void): void
}

export type CreateEndpoint<S> = (options: { server: Server }) => (options: { path: string }) => WsService<S>
type CreateSdkEndpoint = (
  options: Parameters<CreateEndpoint<SdkSession>>[0],
) => ReturnType<CreateEndpoint<SdkSession>> & { audio(options: { path: string }): AudioService }

export const sdkWebSocket = load('@jambonz/sdk/websocket') as { createEndpoint: CreateSdkEndpoint }
export const nodeClientWs = load('@jambonz/node-client-ws') as { createEndpoint: CreateEndpoint<WsSession> }
