/** Small valid files that the demo's merchants upload. Each has its own content. */
import { bytesOf } from './past-clock.ts'

/** Replaces characters that a PDF string or its Latin fonts do not support. */
const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, '-').replace(/[\\()]/g, ' ')

/** Creates a PDF of one page with these lines of text. */
export function pdfOf(lines: readonly string[]): Buffer {
  const content = `BT /F1 12 Tf 72 720 Td 18 TL ${lines.map((line) => `(${plain(line)}) Tj T*`).join(' ')} ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, nth) => {
    const offset = text.length
    text += `${nth + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  return Buffer.from(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
  )
}

/** Creates a CSV file with twelve months of figures that follow from a name. */
export function accountsOf(name: string): Buffer {
  const rows = [...bytesOf(name).subarray(0, 12)].map((byte, nth) => `${nth + 1},${8_000 + byte * 25}.00,${5_000 + byte * 17}.00`)
  return Buffer.from(['month,in,out', ...rows, ''].join('\n'))
}
