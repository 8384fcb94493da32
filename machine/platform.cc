#include "machine/platform.h"
