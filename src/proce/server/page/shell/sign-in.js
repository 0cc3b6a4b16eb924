// Asks for a token when the server wants one. It is kept for this tab only.
import { html, useEffect, useRef, useState } from "../vendor/interface.js";
import { signIn, tokenWanted } from "../core/api.js";

export function SignIn() {
  const dialog = useRef(null);
  const [token, setToken] = useState("");
  useEffect(() => {
    if (!dialog.current.open) dialog.current.showModal();
  }, []);
  const enter = (event) => {
    event.preventDefault();
    if (token.trim()) signIn(token.trim());
  };
  return html`<dialog class="sign-in" ref=${dialog} aria-labelledby="sign-in-title" onCancel=${(event) => event.preventDefault()}>
    <form onSubmit=${enter}>
      <h2 id="sign-in-title">Sign in</h2>
      <p role="alert">${tokenWanted.value}</p>
      <label for="token">Token</label>
      <input id="token" class="control" type="password" autocomplete="off" spellcheck=${false} autofocus
        value=${token} onInput=${(event) => setToken(event.target.value)} />
      <p class="small">The operator of this service has it. It is kept until you close this tab.</p>
      <button class="primary" type="submit">Sign in</button>
    </form>
  </dialog>`;
}
