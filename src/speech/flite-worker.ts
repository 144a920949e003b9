// The thread of the embedded voice. Flite is a command compiled to WASI: each run is a fresh instance of one compiled
// module, sees nothing of the file system but its scratch directory, and leaves one WAV file there.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WASI } from 'node:wasi'
import { parentPort, workerData } from 'node:worker_threads'
import { hasNoRoom } from '../lib/full-disk.ts'

export interface FliteJob {
  readonly id: number
  readonly text: string
  readonly voice: string
}

export type FliteResult =
  | { readonly id: number; readonly sampleRate: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly failure: string; readonly isDiskFull?: true }

export interface FliteWorkerData {
  readonly scratchDir: string
  readonly modulePath: string
}

// The few names of the WebAssembly interface that are used here; the type library that declares them is the browser's.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => object
}

// Flite writes the plain header of 44 bytes, with the rate at this offset.
const headerBytes = 44
const rateOffset = 24
const lengthOffset = 40

interface WasiImports {
  readonly wasi_snapshot_preview1: { readonly fd_close: (handle: number) => number }
}

/**
 * The handles of the scratch directory and of the WAV file, after the three standard ones. `node:wasi` closes none of
 * them at the end of a run, not even when its object is collected.
 */
const heldHandles = [3, 4]

const { scratchDir, modulePath } = workerData as FliteWorkerData
const module = new WebAssembly.Module(readFileSync(modulePath))

// Every instance leaves 18 MB to the garbage collector, which does not treat it as urgent, so collection is requested.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

parentPort?.on('message', (job: FliteJob) => {
  const result = speak(job)
  parentPort?.postMessage(result, 'bytes' in result ? [result.bytes.buffer] : [])
  collect()
})

function speak({ id, text, voice }: FliteJob): FliteResult {
  const name = `${id}.wav`
  try {
    const code = run(['flite', '-voice', voice, '-t', text, '-o', `/scratch/${name}`])
    if (code !== 0) return { id, failure: `exit code ${code}` }
    const file = readFileSync(join(scratchDir, name))
    // Flite does not check whether its writes succeed.
    if (file.length < headerBytes || file.length < headerBytes + file.readUInt32LE(lengthOffset))
      return { id, failure: 'no audio', ...(hasNoRoom(scratchDir) ? { isDiskFull: true } : {}) }
    return {
      id,
      sampleRate: file.readUInt32LE(rateOffset),
      bytes: new Uint8Array(file.subarray(headerBytes)),
    }
  } catch (error) {
    return { id, failure: String(error) }
  } finally {
    rmSync(join(scratchDir, name), { force: true })
  }
}

function run(args: string[]): number {
  const wasi = new WASI({
    version: 'preview1',
    args,
    preopens: { '/scratch': scratchDir },
    returnOnExit: true,
  })
  const imports = wasi.getImportObject() as WasiImports
  const instance = new WebAssembly.Instance(module, imports)
  try {
    return wasi.start(instance)
  } finally {
    for (const handle of heldHandles) imports.wasi_snapshot_preview1.fd_close(handle)
  }
}
