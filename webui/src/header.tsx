import { useStore } from "./app";
import { nameOf, titleOf } from "./list/label";
import { StateBadge } from "./list/list";
import { Sizes } from "./terminal/sizes";
import { ThreadPanel } from "./thread/panel";
import { IconButton } from "./ui/button";
import { Viewers } from "./viewers/panel";

function Actions() {
  const { activeInfo, closing, guest, searching, sharing } = useStore();
  const info = activeInfo.value;
  if (!info) return null;
  return (
    <>
      {!guest && <ThreadPanel />}
      <StateBadge info={info} />
      <Viewers />
      <Sizes />
      <IconButton icon="search" label="Search (Ctrl+Shift+F)" onClick={() => (searching.value = !searching.value)} />
      {!guest && <IconButton icon="share" label="Share" onClick={() => (sharing.value = info)} />}
      {!guest && (
        <IconButton
          icon="close"
          label={`Close ${nameOf(info)}`}
          title="Close terminal"
          onClick={() => (closing.value = info)}
        />
      )}
    </>
  );
}

/** Header names the terminal that is shown; on narrow pages it also opens the drawer. */
export function Header() {
  const { activeId, activeInfo, drawerOpen, model } = useStore();
  const info = activeInfo.value;
  const rang = model.value.attention.size > 0;
  return (
    <header class="head">
      <IconButton
        icon="menu"
        class={rang ? "menu rang-dot" : "menu"}
        label={rang ? "Show terminals; one wants attention" : "Show terminals"}
        aria-expanded={drawerOpen.value}
        aria-controls="terminals"
        onClick={() => (drawerOpen.value = !drawerOpen.value)}
      />
      <h1 class="cut head-title">
        <bdi>{info ? titleOf(info) : activeId.value === null ? "evertty" : ""}</bdi>
      </h1>
      <Actions />
    </header>
  );
}
