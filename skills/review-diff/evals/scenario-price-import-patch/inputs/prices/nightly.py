"""The nightly run over all suppliers."""

from __future__ import annotations

import logging
import time

from prices.importer import import_file

log = logging.getLogger(__name__)

# the mail relay accepts one message per second and drops the rest without an error
RELAY_PAUSE_S = 1.0


def run(suppliers, inbox, store, mailer) -> list[str]:
    """The names of the suppliers whose list could not be imported."""
    failed = []
    for supplier in suppliers:
        try:
            count, rejected = import_file(inbox / f"{supplier.name}.csv", store)
        except Exception:
            # one supplier's broken file must not cost the others their prices
            log.exception("price list of %s not imported", supplier.name)
            failed.append(supplier.name)
            continue
        log.info("%s: %d prices", supplier.name, count)
        if rejected:
            mailer.send(supplier.name, "Rejected articles: " + ", ".join(rejected))
            time.sleep(RELAY_PAUSE_S)
    return failed
