// A third real phone: drives PJSIP through pjsua2, its Python binding. It plays and records WAV files.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromWav, toWav, type Audio } from './audio.ts'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { commandPath, tools } from './tools.ts'
import { Inbox, within } from './wait.ts'

export interface Pjsua2Options {
  readonly username: string
  readonly password: string
  readonly realm: string
  readonly proxy: {
    readonly address: string
    readonly port: number
    readonly transport?: 'udp' | 'tcp' | 'tls'
  }
  /** For TLS: the certificate authority that must have signed the certificate of the proxy. */
  readonly authorityFile?: string
  /** Requires media encrypted by keys in SDP in every call. */
  readonly encrypts?: boolean
  readonly says: Audio
  readonly answers?: 'auto' | 'manual'
  /** The only codec that it offers; its default ones if left out. */
  readonly codec?: 'G722'
  /** Whether all its calls need PRACK (RFC 3262) and a session timer (RFC 4028) of 90 s. */
  readonly insists?: boolean
}

/** A fact that the phone reports: a state of one of its calls, or the outcome of one of its requests. */
export interface Pjsua2Fact {
  /** The number that the phone gave the call. */
  readonly call?: number
  /** The state as PJSIP names it: CALLING, INCOMING, EARLY, CONFIRMED, DISCONNECTED; RINGING for a call it made. */
  readonly state?: string
  readonly peer?: string
  /** The state of the media: 1 flows, 2 held by the phone, 3 held by the far end. */
  readonly media?: number
  /** The status that a NOTIFY reported for the referred call. */
  readonly transfer?: number
  /** The status of its REGISTER. */
  readonly registered?: number
  readonly refused?: string
}

type Order = 'dial' | 'answer' | 'hold' | 'resume' | 'press' | 'refer' | 'deflect' | 'replace' | 'hangup'

export interface Pjsua2 {
  readonly facts: Inbox<Pjsua2Fact>
  /** Gives an order. `dial` takes the address first, every other order the number of a call. */
  order(name: Order, ...values: readonly (string | number)[]): void
  /** Returns the audio from the far ends of all its calls, joined; time on hold leaves no silence. */
  heard(): Promise<Audio>
  readonly output: string
  stop(): Promise<void>
}

/** Resolves when the phone is registered. */
export async function startPjsua2({ says, ...options }: Pjsua2Options): Promise<Pjsua2> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-pjsua2-'))
  const files = { says: join(folder, 'says.wav'), heard: join(folder, 'heard.wav') }
  await writeFile(files.says, toWav(says))
  const child = new ToolProcess({
    command: commandPath(tools.pjsua2) ?? tools.pjsua2.command,
    args: ['-c', script],
    cwd: folder,
    hasInput: true,
  })
  const facts = new Inbox<Pjsua2Fact>()
  child.lines.listen((line) => {
    if (line.startsWith('{')) facts.push(JSON.parse(line) as Pjsua2Fact)
  })
  const write = (value: unknown): void => child.write(`${JSON.stringify(value)}\n`)
  const usual = { answers: 'manual', insists: false, codec: '', encrypts: false, authorityFile: '' }
  write({ ...usual, ...options, ...files, rtp: await freePorts(8) })
  const phone: Pjsua2 = {
    facts,
    order: (...words) => write(words),
    heard: async () => fromWav(await readFile(files.heard)),
    get output() {
      return child.output
    },
    async stop() {
      // The phone hangs up and unregisters.
      child.write('quit\n')
      await within('pjsua2 to leave', 8_000, child.exited).catch(() => child.stop('SIGKILL'))
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    const { registered } = await Promise.race([
      facts.next('pjsua2 to be registered', (fact) => fact.registered !== undefined),
      child.exited.then(() => {
        throw new Error('pjsua2 ended')
      }),
    ])
    if (registered !== 200) throw new Error(`pjsua2 was not registered: ${registered}`)
  } catch (error) {
    await phone.stop()
    throw new Error(`${String(error)}\n${child.output}`)
  }
  return phone
}

// pjsua2 has no program of its own. This one reads orders and writes facts as lines of JSON; its log goes to stderr.
const script = `
import json, select, sys, time
import pjsua2 as pj

orders = open(0, "rb", buffering=0)
wish = json.loads(orders.readline())
calls = {}
caller, called = pj.PJSIP_ROLE_UAC, pj.PJSIP_ROLE_UAS
states = {(pj.PJSIP_INV_STATE_EARLY, caller): "RINGING"}
for role in caller, called:
    states[pj.PJSIP_INV_STATE_DISCONNECTED, role] = "DISCONNECTED"

def tell(**fact):
    print(json.dumps(fact), file=sys.stderr, flush=True)

def op(status=0, flags=None):
    prm = pj.CallOpParam(True)
    prm.statusCode = status
    if flags is not None:
        prm.opt.flag = flags
    return prm

class Call(pj.Call):
    def onCallState(self, prm):
        info = self.getInfo()
        tell(call=info.id, state=states.get((info.state, info.role), info.stateText), peer=info.remoteUri)
        if info.state == pj.PJSIP_INV_STATE_DISCONNECTED:
            calls.pop(info.id, None)

    def onCallMediaState(self, prm):
        # The media objects live only as long as the info.
        info = self.getInfo()
        for media in info.media:
            if media.status == pj.PJSUA_CALL_MEDIA_ACTIVE:
                audio = self.getAudioMedia(media.index)
                player.startTransmit(audio)
                audio.startTransmit(recorder)
            tell(call=self.getId(), media=media.status)

    def onCallTransferStatus(self, prm):
        tell(call=self.getId(), transfer=prm.statusCode)

class Account(pj.Account):
    left = False

    def onRegState(self, prm):
        self.left = prm.expiration == 0
        tell(registered=prm.code)

    def onIncomingCall(self, prm):
        call = calls[prm.callId] = Call(self, prm.callId)
        call.answer(op(200 if wish["answers"] == "auto" else 180))
        tell(call=prm.callId, state="INCOMING", peer=call.getInfo().remoteUri)

def dial(target):
    call = Call(account)
    call.makeCall(target, op())
    calls[call.getId()] = call

def deflect(call, target):
    prm = op(302)
    contact = pj.SipHeader()
    contact.hName, contact.hValue = "Contact", "<" + target + ">"
    prm.txOption.headers.append(contact)
    call.hangup(prm)

obey = {
    "dial": dial,
    "answer": lambda call: calls[call].answer(op(200)),
    "hold": lambda call: calls[call].setHold(op()),
    "resume": lambda call: calls[call].reinvite(op(flags=pj.PJSUA_CALL_UNHOLD)),
    "press": lambda call, digits: calls[call].dialDtmf(digits),
    "refer": lambda call, target: calls[call].xfer(target, op()),
    "deflect": lambda call, target: deflect(calls[call], target),
    "replace": lambda call, other: calls[call].xferReplaces(calls[other], op()),
    "hangup": lambda call: calls[call].hangup(op()),
}

endpoint = pj.Endpoint()
endpoint.libCreate()
config = pj.EpConfig()
config.uaConfig.threadCnt = 0
config.uaConfig.mainThreadOnly = True
config.logConfig.level = config.logConfig.consoleLevel = 4
config.medConfig.clockRate = config.medConfig.sndClockRate = 8000
config.medConfig.ecTailLen = 0
config.medConfig.noVad = True
endpoint.libInit(config)
for codec in endpoint.codecEnum2() if wish["codec"] else []:
    endpoint.codecSetPriority(codec.codecId, 255 if codec.codecId.startswith(wish["codec"]) else 0)
place = pj.TransportConfig()
place.boundAddress = "127.0.0.1"
over = wish["proxy"].get("transport", "udp")
if over == "tls":
    place.tlsConfig.CaListFile = wish["authorityFile"]
    place.tlsConfig.verifyServer = True
endpoint.transportCreate(getattr(pj, "PJSIP_TRANSPORT_" + over.upper()), place)
endpoint.libStart()
endpoint.audDevManager().setNullDev()
player = pj.AudioMediaPlayer()
player.createPlayer(wish["says"])
recorder = pj.AudioMediaRecorder()
recorder.createRecorder(wish["heard"])

user = pj.AccountConfig()
user.idUri = "sip:" + wish["username"] + "@" + wish["realm"]
user.regConfig.registrarUri = "sip:" + wish["realm"]
user.sipConfig.proxies.append("sip:" + wish["proxy"]["address"] + ":" + str(wish["proxy"]["port"]) + ";transport=" + over + ";lr")
user.sipConfig.authCreds.append(pj.AuthCredInfo("digest", "*", wish["username"], 0, wish["password"]))
user.mediaConfig.transportConfig.boundAddress = "127.0.0.1"
user.mediaConfig.transportConfig.port = wish["rtp"]
if wish["encrypts"]:
    user.mediaConfig.srtpUse = pj.PJMEDIA_SRTP_MANDATORY
    user.mediaConfig.srtpSecureSignaling = 1
if wish["insists"]:
    user.callConfig.prackUse = pj.PJSUA_100REL_MANDATORY
    user.callConfig.timerUse = pj.PJSUA_SIP_TIMER_REQUIRED
    user.callConfig.timerMinSESec = user.callConfig.timerSessExpiresSec = 90
account = Account()
account.create(user)

while True:
    endpoint.libHandleEvents(10)
    if select.select([orders], [], [], 0)[0]:
        line = orders.readline()
        if not line or line == b"quit\\n":
            break
        name, *values = json.loads(line)
        try:
            obey[name](*values)
        except (pj.Error, KeyError) as error:
            tell(refused=name, reason=str(getattr(error, "reason", error)))

# Without this the library would do the same at its end, a second later, whatever it receives.
endpoint.hangupAllCalls()
try:
    account.setRegistration(False)
except pj.Error:
    account.left = True
end = time.monotonic() + 4
while (calls or not account.left) and time.monotonic() < end:
    endpoint.libHandleEvents(10)
endpoint.libDestroy(pj.PJSUA_DESTROY_NO_RX_MSG)
`
