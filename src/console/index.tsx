import { render } from 'preact'
import './style.css'

const Hello = () => (
  <main>
    <h1>hello</h1>
  </main>
)

const root = document.getElementById('root')
if (root) render(<Hello />, root)
