import { useEffect, useRef } from 'preact/hooks'
import { showHtml } from '../lib/format/html-preview.ts'

/**
 * Shows user HTML safely, see `showHtml`.
 * @param styles applies the HTML's own styles
 */
export function HtmlPreview({ html, label, styles = false }: { html: string; label: string; styles?: boolean }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (host.current) showHtml(host.current, html, { styles })
  }, [html, styles])
  return <div ref={host} class={styles ? 'preview paper' : 'preview'} role="region" aria-label={label} tabIndex={0} />
}
