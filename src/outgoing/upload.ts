// A recording as a form with a file, which some vendors require.
import { wavHeader } from '../lib/audio/wav-header.ts'

export interface Upload {
  readonly contentType: string
  readonly body: Uint8Array
}

export async function toUpload(
  { sampleRate, bytes }: { readonly sampleRate: number; readonly bytes: Uint8Array },
  fields: Readonly<Record<string, string>>,
): Promise<Upload> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const wav = Buffer.concat([wavHeader(sampleRate, bytes.length), bytes])
  form.append('file', new Blob([wav], { type: 'audio/wav' }), 'recording.wav')
  const encoded = new Response(form)
  return {
    contentType: encoded.headers.get('content-type') ?? '',
    body: new Uint8Array(await encoded.arrayBuffer()),
  }
}
