import { useEffect, useRef } from 'preact/hooks'
import { showHtml } from '../lib/format/html-preview.ts'

/** HTML that people wrote, as it looks: nothing in it runs, leads anywhere or is loaded from elsewhere. @param styles its own count */
export function HtmlPreview({ html, label, styles = false }: { html: string; label: string; styles?: boolean }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (host.current) showHtml(host.current, html, { styles })
  }, [html, styles])
  return <div ref={host} class={styles ? 'preview paper' : 'preview'} role="region" aria-label={label} tabIndex={0} />
}
